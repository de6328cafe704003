// A session of Hetzner Cloud's own Go client, which its CLI, its Terraform provider and its cloud controller manager use. It
// prints the steps that failed, and the number of all. URL, token and a token that may only read are the arguments.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

var done, steps int

func step(name string, run func() error) {
	steps++
	if err := run(); err != nil {
		fmt.Println("failed:", name, err)
		return
	}
	done++
}

func want(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func wantCode(err error, code hcloud.ErrorCode) error {
	return want(hcloud.IsError(err, code), "got %v, expected %s", err, code)
}

func main() {
	url, token, readOnly := os.Args[1], os.Args[2], os.Args[3]
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	defer cancel()
	options := []hcloud.ClientOption{hcloud.WithEndpoint(url), hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(50 * time.Millisecond)})}
	client := hcloud.NewClient(append(options, hcloud.WithToken(token))...)
	reader := hcloud.NewClient(append(options, hcloud.WithToken(readOnly))...)
	session(ctx, client, reader)
	fmt.Printf("%d of %d\n", done, steps)
}

func session(ctx context.Context, client, reader *hcloud.Client) {
	var location *hcloud.Location
	var servers []*hcloud.Server
	var ip, network *hcloud.FloatingIP

	step("locations", func() (err error) {
		all, err := client.Location.All(ctx)
		if err != nil || len(all) != 6 {
			return want(false, "%d locations, %v", len(all), err)
		}
		location, _, err = client.Location.GetByName(ctx, "hel1")
		return errors.Join(err, want(location != nil && location.City == "Helsinki", "got %v", location))
	})
	step("server types", func() error {
		kind, _, err := client.ServerType.GetByName(ctx, "cpx22")
		return errors.Join(err, want(kind != nil, "no server type"))
	})
	for _, name := range []string{"one", "two"} {
		step("create server "+name, func() error {
			result, _, err := client.Server.Create(ctx, hcloud.ServerCreateOpts{
				Name: name, ServerType: &hcloud.ServerType{Name: "cpx22"}, Image: &hcloud.Image{Name: "ubuntu-24.04"}, Location: location,
			})
			if err != nil {
				return err
			}
			servers = append(servers, result.Server)
			return client.Action.WaitFor(ctx, result.Action)
		})
	}
	step("server by name", func() error {
		found, _, err := client.Server.GetByName(ctx, "two")
		return errors.Join(err, want(found != nil && found.Status == hcloud.ServerStatusRunning, "got %v", found))
	})
	catalogue(ctx, client, servers)
	step("create floating IP", func() error {
		labels := map[string]string{"cluster": "test", "example.com/role": "web"}
		result, _, err := client.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{
			Type: hcloud.FloatingIPTypeIPv4, HomeLocation: location, Name: hcloud.Ptr("web"), Labels: labels,
		})
		if err != nil {
			return err
		}
		ip = result.FloatingIP
		return want(result.Action == nil && ip.Server == nil && ip.IP.To4() != nil && ip.HomeLocation.Name == "hel1", "got %+v", ip)
	})
	step("a second one of that name", func() error {
		_, _, err := client.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{Type: hcloud.FloatingIPTypeIPv4, HomeLocation: location, Name: hcloud.Ptr("web")})
		return wantCode(err, hcloud.ErrorCodeUniquenessError)
	})
	step("without a location", func() error {
		_, _, err := client.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{Type: hcloud.FloatingIPTypeIPv4, HomeLocation: &hcloud.Location{Name: "mars"}})
		return wantCode(err, hcloud.ErrorCodeInvalidInput)
	})
	step("list by labels", func() error {
		all, err := client.FloatingIP.AllWithOpts(ctx, hcloud.FloatingIPListOpts{ListOpts: hcloud.ListOpts{LabelSelector: "cluster in (test,other),!missing"}})
		return errors.Join(err, want(len(all) == 1, "%d found", len(all)))
	})
	step("rename and label", func() (err error) {
		ip, _, err = client.FloatingIP.Update(ctx, ip, hcloud.FloatingIPUpdateOpts{Name: "shop", Description: "the shop", Labels: map[string]string{"cluster": "other"}})
		return errors.Join(err, want(ip != nil && ip.Name == "shop" && len(ip.Labels) == 1, "got %+v", ip))
	})
	assign(ctx, client, &servers, &ip)
	step("IPv6 network", func() error {
		result, _, err := client.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{Type: hcloud.FloatingIPTypeIPv6, Server: servers[0]})
		if err != nil {
			return err
		}
		network = result.FloatingIP
		size, _ := network.Network.Mask.Size()
		return errors.Join(client.Action.WaitFor(ctx, result.Action), want(size == 64 && network.Server != nil, "got %+v", network))
	})
	step("names of IPv6", func() error {
		action, _, err := client.FloatingIP.ChangeDNSPtr(ctx, network, network.IP.String()+"1", hcloud.Ptr("one.example.com"))
		if err != nil {
			return err
		}
		if err := client.Action.WaitFor(ctx, action); err != nil {
			return err
		}
		found, _, err := client.FloatingIP.GetByID(ctx, network.ID)
		name, known := found.DNSPtr[net.ParseIP(network.IP.String()+"1").String()]
		_, _, foreign := client.FloatingIP.ChangeDNSPtr(ctx, network, "192.0.2.9", hcloud.Ptr("one.example.com"))
		return errors.Join(
			err, want(known && name == "one.example.com", "names %v", found.DNSPtr), wantCode(foreign, hcloud.ErrorCodeInvalidInput),
		)
	})
	step("a token that may only read", func() error {
		_, _, err := reader.FloatingIP.Update(ctx, ip, hcloud.FloatingIPUpdateOpts{Name: "no"})
		if _, readErr := reader.FloatingIP.All(ctx); readErr != nil {
			return readErr
		}
		return wantCode(err, hcloud.ErrorCode("token_readonly"))
	})
	remove(ctx, client, servers, ip)
}

// The CLI reads these for the commands that list and describe; it breaks where one of them is missing.
func catalogue(ctx context.Context, client *hcloud.Client, servers []*hcloud.Server) {
	step("what a server refers to", func() error {
		found, _, err := client.Server.GetByID(ctx, servers[0].ID)
		if err != nil {
			return err
		}
		network, _, err := client.Network.GetByID(ctx, found.PrivateNet[0].Network.ID)
		image, _, imageErr := client.Image.GetForArchitecture(ctx, "ubuntu-24.04", hcloud.ArchitectureX86)
		known := network != nil && image != nil && found.Image != nil && found.Image.ID == image.ID
		return errors.Join(err, imageErr, want(known, "network %v, image %v", network, image))
	})
	step("prices", func() error {
		prices, _, err := client.Pricing.Get(ctx)
		kind, _, kindErr := client.ServerType.GetByName(ctx, "cpx22")
		if err := errors.Join(err, kindErr); err != nil {
			return err
		}
		return want(len(prices.FloatingIPs) == 2 && len(prices.ServerTypes) > 0 && len(kind.Locations) == 6, "%+v", prices)
	})
	step("datacenters are gone", func() error {
		_, _, err := client.Datacenter.GetByName(ctx, "fsn1-dc14")
		return wantCode(err, hcloud.ErrorCode("deprecated_api_endpoint"))
	})
	step("SSH key", func() error {
		public := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBc+iGYCFZ1uKPzuBKEXVCEXhbGwxvVjvEyvGaCbtBjR"
		key, _, err := client.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "mine", PublicKey: public})
		if err != nil {
			return err
		}
		_, _, again := client.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "other", PublicKey: public})
		_, err = client.SSHKey.Delete(ctx, key)
		return errors.Join(err, wantCode(again, hcloud.ErrorCodeUniquenessError))
	})
	step("rename a server, and protect it", func() error {
		_, _, taken := client.Server.Update(ctx, servers[0], hcloud.ServerUpdateOpts{Name: servers[1].Name})
		renamed, _, err := client.Server.Update(ctx, servers[0], hcloud.ServerUpdateOpts{Name: "first", Labels: map[string]string{"a": "b"}})
		if err != nil {
			return err
		}
		protect := func(on bool) error {
			action, _, err := client.Server.ChangeProtection(ctx, renamed, hcloud.ServerChangeProtectionOpts{Delete: &on, Rebuild: &on})
			if err != nil {
				return err
			}
			return client.Action.WaitFor(ctx, action)
		}
		if err := protect(true); err != nil {
			return err
		}
		_, _, refused := client.Server.DeleteWithResult(ctx, renamed)
		return errors.Join(
			wantCode(taken, hcloud.ErrorCodeUniquenessError), wantCode(refused, hcloud.ErrorCodeProtected),
			want(renamed.Name == "first" && renamed.Labels["a"] == "b", "got %+v", renamed), protect(false),
		)
	})
}

func assign(ctx context.Context, client *hcloud.Client, servers *[]*hcloud.Server, ip **hcloud.FloatingIP) {
	for _, place := range []int{0, 1} {
		step(fmt.Sprintf("assign to server %d in one call", place), func() error {
			action, _, err := client.FloatingIP.Assign(ctx, *ip, (*servers)[place])
			if err != nil {
				return err
			}
			if err := client.Action.WaitFor(ctx, action); err != nil {
				return err
			}
			*ip, _, err = client.FloatingIP.GetByID(ctx, (*ip).ID)
			return errors.Join(err, want((*ip).Server != nil && (*ip).Server.ID == (*servers)[place].ID, "it is at %v", (*ip).Server))
		})
	}
	step("delete while assigned", func() error {
		_, err := client.FloatingIP.Delete(ctx, *ip)
		return wantCode(err, hcloud.ErrorCode("must_be_unassigned"))
	})
	step("a server that is deleted leaves its address", func() error {
		result, _, err := client.Server.DeleteWithResult(ctx, (*servers)[1])
		if err != nil {
			return err
		}
		if err := client.Action.WaitFor(ctx, result.Action); err != nil {
			return err
		}
		*ip, _, err = client.FloatingIP.GetByID(ctx, (*ip).ID)
		gone, _, goneErr := client.Server.GetByID(ctx, (*servers)[1].ID)
		return errors.Join(err, goneErr, want((*ip).Server == nil && gone == nil, "at %v, server %v", (*ip).Server, gone))
	})
	step("unassign what is not assigned", func() error {
		_, _, err := client.FloatingIP.Unassign(ctx, *ip)
		return wantCode(err, hcloud.ErrorCodeServiceError)
	})
}

func remove(ctx context.Context, client *hcloud.Client, servers []*hcloud.Server, ip *hcloud.FloatingIP) {
	protect := func(on bool) error {
		action, _, err := client.FloatingIP.ChangeProtection(ctx, ip, hcloud.FloatingIPChangeProtectionOpts{Delete: hcloud.Ptr(on)})
		if err != nil {
			return err
		}
		return client.Action.WaitFor(ctx, action)
	}
	step("protection", func() error {
		if err := protect(true); err != nil {
			return err
		}
		_, err := client.FloatingIP.Delete(ctx, ip)
		return errors.Join(wantCode(err, hcloud.ErrorCodeProtected), protect(false))
	})
	step("delete", func() error {
		if _, err := client.FloatingIP.Delete(ctx, ip); err != nil {
			return err
		}
		found, _, err := client.FloatingIP.GetByID(ctx, ip.ID)
		_, again := client.FloatingIP.Delete(ctx, ip)
		return errors.Join(err, want(found == nil, "it is there"), wantCode(again, hcloud.ErrorCodeNotFound))
	})
	step("power", func() error {
		action, _, err := client.Server.Poweroff(ctx, servers[0])
		if err != nil {
			return err
		}
		if err := client.Action.WaitFor(ctx, action); err != nil {
			return err
		}
		found, _, err := client.Server.GetByID(ctx, servers[0].ID)
		return errors.Join(err, want(found.Status == hcloud.ServerStatusOff, "status %s", found.Status))
	})
}
