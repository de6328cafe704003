// A session of packngo, Equinix Metal's Go client of many years. It prints the steps that failed, and the number of all.
// URL, token and project are the arguments.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/packethost/packngo"
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
	client, err := packngo.NewClientWithBaseURL("session", os.Args[2], nil, os.Args[1])
	if err != nil {
		panic(err)
	}
	project := os.Args[3]
	account(client, project)
	catalogue(client, project)
	device := devices(client, project)
	addresses(client, project, device)
	fmt.Printf("%d of %d\n", steps-failed, steps)
}

func account(client *packngo.Client, project string) {
	user, _, err := client.Users.Current()
	step("user", err, user != nil && user.ID != "")
	organizations, _, err := client.Organizations.List(nil)
	step("organizations", err, len(organizations) == 1)
	projects, _, err := client.Projects.List(nil)
	step("projects", err, len(projects) == 1 && projects[0].ID == project)

	made, _, err := client.Projects.Create(&packngo.ProjectCreateRequest{Name: "lab"})
	step("create a project", err, made != nil && made.Name == "lab")
	if made != nil {
		name := "laboratory"
		renamed, _, err := client.Projects.Update(made.ID, &packngo.ProjectUpdateRequest{Name: &name})
		step("rename a project", err, renamed != nil && renamed.Name == name)
		_, err = client.Projects.Delete(made.ID)
		step("delete a project", err, true)
	}
	sshKey, _, err := client.SSHKeys.Create(&packngo.SSHKeyCreateRequest{Label: "laptop", Key: key, ProjectID: project})
	step("create an SSH key", err, sshKey != nil && sshKey.FingerPrint != "")
	keys, _, err := client.Projects.ListSSHKeys(project, nil)
	step("SSH keys of a project", err, len(keys) == 1)
}

func catalogue(client *packngo.Client, project string) {
	plans, _, err := client.Plans.ProjectList(project, nil)
	step("plans", err, len(plans) > 0 && plans[0].Specs != nil)
	systems, _, err := client.OperatingSystems.List()
	step("operating systems", err, len(systems) > 0 && len(systems[0].ProvisionableOn) > 0)
	input := &packngo.CapacityInput{Servers: []packngo.ServerInfo{{Metro: "da", Plan: "c3.small.x86", Quantity: 3}}}
	checked, _, err := client.CapacityService.CheckMetros(input)
	step("capacity", err, checked != nil && checked.Servers[0].Quantity == 3 && checked.Servers[0].Available)
}

func devices(client *packngo.Client, project string) string {
	block, _, err := client.ProjectIPs.Create(project, reservation(4))
	step("reserve for a device", err, block != nil)
	device, _, err := client.Devices.Create(&packngo.DeviceCreateRequest{
		Hostname: "worker-1", Plan: "c3.small.x86", Metro: "da", OS: "ubuntu_22_04", BillingCycle: "hourly",
		ProjectID: project, CustomData: `{"a":1}`, SpotInstance: true, SpotPriceMax: 0.25,
		IPAddresses: []packngo.IPAddressCreateRequest{
			{AddressFamily: 4, Public: true, CIDR: 31, Reservations: []string{block.ID}},
			{AddressFamily: 4, Public: false}, {AddressFamily: 6, Public: true},
		},
	})
	step("order a device", err, device != nil)
	step("root password", nil, device.RootPassword != "" && device.SwitchUUID != "")
	step("spot price", nil, device.SpotPriceMax == 0.25)
	step("custom data", nil, device.CustomData["a"] == 1.0)
	step("address of the reservation", nil, hasAddressIn(device, block.ID))
	waitFor(client, device.ID, "active")

	_, err = client.Devices.PowerOff(device.ID)
	step("power off", err, true)
	waitFor(client, device.ID, "inactive")
	_, err = client.Devices.PowerOn(device.ID)
	step("power on", err, true)
	waitFor(client, device.ID, "active")
	_, err = client.Devices.Reinstall(device.ID, &packngo.DeviceReinstallFields{OperatingSystem: "debian_12"})
	step("reinstall", err, true)
	waitFor(client, device.ID, "active")
	device, _, err = client.Devices.Get(device.ID, nil)
	step("after reinstalling", err, device.OS.Slug == "debian_12")
	events, _, err := client.Devices.ListEvents(device.ID, nil)
	step("events", err, len(events) >= 4)

	_, err = client.Devices.Lock(device.ID)
	step("lock", err, true)
	_, err = client.Devices.Delete(device.ID, false)
	step("a locked device stays", nil, err != nil && strings.Contains(err.Error(), "Cannot delete a locked item"))
	_, err = client.Devices.Unlock(device.ID)
	step("unlock", err, true)
	return device.ID
}

// hasAddressIn tells whether a device has an address of a reservation.
func hasAddressIn(device *packngo.Device, reservation string) bool {
	for _, address := range device.Network {
		if address.ParentBlock != nil && address.ParentBlock.Href != nil && strings.HasSuffix(*address.ParentBlock.Href, reservation) {
			return true
		}
	}
	return false
}

func addresses(client *packngo.Client, project, device string) {
	block, _, err := client.ProjectIPs.Create(project, reservation(2))
	step("reserve a /31", err, block != nil && block.CIDR == 31)
	assigned, _, err := client.DeviceIPs.Assign(device, &packngo.AddressStruct{Address: block.Network + "/31"})
	step("assign a /31", err, assigned != nil && assigned.CIDR == 31)
	blocks, _, err := client.ProjectIPs.List(project, nil)
	step("reservations", err, len(blocks) >= 3)
	for _, one := range blocks {
		if one.AddressFamily == 6 {
			step("facility of the IPv6 block", nil, one.Facility != nil)
			free, _, err := client.ProjectIPs.AvailableAddresses(one.ID, &packngo.AvailableRequest{CIDR: 64})
			step("available /64", err, len(free) > 0)
			if len(free) > 0 {
				_, _, err = client.DeviceIPs.Assign(device, &packngo.AddressStruct{Address: free[0]})
				step("assign a /64", err, true)
			}
		}
	}
	large := reservation(256)
	_, response, _ := client.ProjectIPs.Create(project, large)
	step("a /24 requires approval", nil, response != nil && response.StatusCode == 422)
	_, err = client.Devices.Delete(device, true)
	step("delete a device", err, true)
}

func reservation(quantity int) *packngo.IPReservationCreateRequest {
	metro := "da"
	return &packngo.IPReservationCreateRequest{
		Type: packngo.PublicIPv4, Quantity: quantity, Metro: &metro, FailOnApprovalRequired: true,
	}
}

func waitFor(client *packngo.Client, id, state string) {
	for n := 0; n < 100; n++ {
		device, _, err := client.Devices.Get(id, nil)
		if err != nil || device.State == state {
			step(state, err, true)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	step(state, nil, false)
}
