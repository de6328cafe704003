// A session of Cherry Servers' own Go client, which its cherryctl and its Terraform provider use. It prints the steps
// that failed, and the number of all. URL, token, team and project are the arguments.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/cherryservers/cherrygo/v3"
)

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBYe+GfesnLP06tfLOJWLFnGIJNpgrzLYE2VZhcmrFy0 me@example.com"

var steps, failed int

func step(name string, err error, right bool) {
	steps++
	if err == nil && right {
		return
	}
	failed++
	fmt.Println("failed:", name, err)
}

func main() {
	client, err := cherrygo.NewClient(cherrygo.WithURL(os.Args[1]), cherrygo.WithAuthToken(os.Args[2]))
	if err != nil {
		panic(err)
	}
	team, _ := strconv.Atoi(os.Args[3])
	project, _ := strconv.Atoi(os.Args[4])

	account(client, team)
	catalogue(client, team)
	servers(client, team, project)
	fmt.Printf("%d of %d\n", steps-failed, steps)
}

func account(client *cherrygo.Client, team int) {
	user, _, err := client.Users.CurrentUser(nil)
	step("current user", err, user.ID != 0)
	same, _, err := client.Users.Get(user.ID, nil)
	step("user by id", err, same.Email == user.Email)

	teams, _, err := client.Teams.List(nil)
	step("teams", err, len(teams) == 1 && teams[0].Billing.Currency != "")
	one, _, err := client.Teams.Get(team, nil)
	step("team", err, one.ID == team)
	made, _, err := client.Teams.Create(&cherrygo.CreateTeam{Name: "lab"})
	step("create a team", err, made.Name == "lab")
	name := "laboratory"
	renamed, _, err := client.Teams.Update(made.ID, &cherrygo.UpdateTeam{Name: &name})
	step("rename a team", err, renamed.Name == name)
	_, err = client.Teams.Delete(made.ID)
	step("delete a team", err, true)

	sshKey, _, err := client.SSHKeys.Create(&cherrygo.CreateSSHKey{Label: "laptop", Key: key})
	step("create an SSH key", err, sshKey.Fingerprint != "")
	list, _, err := client.SSHKeys.List(nil)
	step("SSH keys", err, len(list) == 1)
	label := "desktop"
	changed, _, err := client.SSHKeys.Update(sshKey.ID, &cherrygo.UpdateSSHKey{Label: &label})
	step("rename an SSH key", err, changed.Label == label)
	_, _, err = client.SSHKeys.Delete(sshKey.ID)
	step("delete an SSH key", err, true)
}

func catalogue(client *cherrygo.Client, team int) {
	plan, _, err := client.Plans.GetByID(625, nil)
	step("plan by id", err, plan.Slug == "B1-1-1gb-20s-shared" && plan.Specs.Cpus.Cores == 1)
	plan, _, err = client.Plans.GetBySlug("B1-1-1gb-20s-shared", nil)
	step("plan by slug", err, plan.ID == 625 && len(plan.Softwares) > 0 && plan.Softwares[0].Image.Slug != "")
	plans, _, err := client.Plans.List(team, &cherrygo.GetOptions{Type: []string{"baremetal"}})
	right := len(plans) > 0
	for _, one := range plans {
		right = right && one.Type == "baremetal"
	}
	step("plans of a type", err, right)
	images, _, err := client.Images.List("B1-1-1gb-20s-shared", nil)
	step("images of a plan", err, len(images) > 0 && images[0].Slug != "")
	cycles, _, err := client.Servers.ListCycles(nil)
	step("billing cycles", err, len(cycles) > 0)
	regions, _, err := client.Regions.List(nil)
	step("regions", err, len(regions) == 6)
}

func servers(client *cherrygo.Client, team, project int) {
	sshKey, _, err := client.SSHKeys.Create(&cherrygo.CreateSSHKey{Label: "laptop", Key: key})
	step("create another SSH key", err, sshKey.ID != 0)
	ip, _, err := client.IPAddresses.Create(project, &cherrygo.CreateIPAddress{Region: "LT-Siauliai"})
	step("order a floating IP", err, ip.ID != "")
	order := &cherrygo.CreateServer{
		ProjectID: project, Plan: "B1-1-1gb-20s-shared", Region: "LT-Siauliai", Image: "debian_12_64bit",
		SSHKeys: []string{strconv.Itoa(sshKey.ID)}, IPAddresses: []string{ip.ID},
	}
	server, _, err := client.Servers.Create(order)
	step("order a server", err, server.Image == "Debian 12 64bit")
	step("host name of two words", nil, regexp.MustCompile(`^[a-z]+-[a-z]+$`).MatchString(server.Hostname))
	step("addresses of a server", nil, len(server.IPAddresses) == 3)
	routed, _, err := client.IPAddresses.Get(ip.ID, nil)
	step("address in an order", err, routed.TargetedTo.ID == server.ID && routed.RoutedTo.ID != "")
	keys, _, err := client.Servers.ListSSHKeys(server.ID, nil)
	step("SSH keys of a server", err, len(keys) == 1 && keys[0].ID == sshKey.ID)
	keys, _, err = client.Projects.ListSSHKeys(project, nil)
	step("SSH keys of a project", err, len(keys) == 1)
	wait(client, server.ID)

	fields := &cherrygo.ReinstallServerFields{Image: "ubuntu_22_04_64bit", Hostname: "again", Password: "aB3cdefgh"}
	_, _, err = client.Servers.Reinstall(server.ID, fields)
	step("reinstall", err, true)
	wait(client, server.ID)
	server, _, err = client.Servers.Get(server.ID, nil)
	step("after reinstalling", err, server.Image == "Ubuntu 22.04 64bit" && server.Hostname == "again")
	_, _, err = client.Servers.PowerOff(server.ID)
	step("power off", err, true)
	power, _, err := client.Servers.PowerState(server.ID)
	step("power state", err, power.Power == "off")

	lab, _, err := client.Projects.Create(team, &cherrygo.CreateProject{Name: "lab"})
	step("create a project", err, lab.ID != 0)
	order = &cherrygo.CreateServer{ProjectID: lab.ID, Plan: "B1-1-1gb-20s-shared", Region: "LT-Siauliai"}
	_, _, err = client.Servers.Create(order)
	step("order a server in it", err, true)
	_, err = client.Projects.Delete(lab.ID)
	step("delete a project with a server", err, true)
}

// wait waits until a server is deployed, as every client does.
func wait(client *cherrygo.Client, id int) {
	for n := 0; n < 100; n++ {
		server, _, err := client.Servers.Get(id, nil)
		if err != nil || server.Status == "deployed" {
			step("deployed", err, true)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	step("deployed", nil, false)
}
