// A session of Scaleway's own Go SDK, which its CLI, its Terraform provider and its cloud controller manager use. It prints
// the steps that failed, and the number of all. URL, key, a key that may only read, the project and two servers are the
// arguments.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	baremetal "github.com/scaleway/scaleway-sdk-go/api/baremetal/v1"
	flexibleip "github.com/scaleway/scaleway-sdk-go/api/flexibleip/v1alpha1"
	"github.com/scaleway/scaleway-sdk-go/scw"
)

const zone = scw.ZoneFrPar1

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

func wantError[E error](err error) error {
	var expected E
	return want(errors.As(err, &expected), "got %T %v, expected %T", err, err, expected)
}

func clientWith(url, key, project string) *scw.Client {
	client, err := scw.NewClient(scw.WithAPIURL(url), scw.WithAuth("SCWXXXXXXXXXXXXXXXXX", key), scw.WithDefaultProjectID(project), scw.WithDefaultZone(zone))
	if err != nil {
		fmt.Println("failed: client", err)
		os.Exit(0)
	}
	return client
}

func main() {
	url, key, readOnly, project := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client := clientWith(url, key, project)
	servers := os.Args[5:]
	addresses(flexibleip.NewAPI(client), flexibleip.NewAPI(clientWith(url, readOnly, project)), servers)
	step("a key that the cloud does not know", func() error {
		unknown := flexibleip.NewAPI(clientWith(url, "33333333-3333-4333-8333-333333333333", project))
		_, err := unknown.ListFlexibleIPs(&flexibleip.ListFlexibleIPsRequest{})
		return wantError[*scw.DeniedAuthenticationError](err)
	})
	metal(baremetal.NewAPI(client), servers)
	fmt.Printf("%d of %d\n", done, steps)
}

func addresses(api, reader *flexibleip.API, servers []string) {
	var ip *flexibleip.FlexibleIP
	timeout, interval := 60*time.Second, 50*time.Millisecond
	wait := func() (err error) {
		ip, err = api.WaitForFlexibleIP(&flexibleip.WaitForFlexibleIPRequest{FipID: ip.ID, Timeout: &timeout, RetryInterval: &interval})
		return err
	}

	step("create", func() (err error) {
		ip, err = api.CreateFlexibleIP(&flexibleip.CreateFlexibleIPRequest{Description: "web", Tags: []string{"cluster=test", "web"}})
		if err != nil {
			return err
		}
		size, bits := ip.IPAddress.Mask.Size()
		return want(ip.Status == flexibleip.FlexibleIPStatusReady && ip.ServerID == nil && size == bits && ip.Zone == zone, "got %+v", ip)
	})
	step("list by tags, any of them", func() error {
		all, err := api.ListFlexibleIPs(&flexibleip.ListFlexibleIPsRequest{Tags: []string{"missing", "web"}}, scw.WithAllPages())
		if err != nil {
			return err
		}
		return want(all.TotalCount == 1 && len(all.FlexibleIPs) == 1, "%d of %d found", len(all.FlexibleIPs), all.TotalCount)
	})
	step("update", func() (err error) {
		ip, err = api.UpdateFlexibleIP(&flexibleip.UpdateFlexibleIPRequest{FipID: ip.ID, Tags: &[]string{"shop"}, Description: scw.StringPtr("the shop")})
		if err != nil {
			return err
		}
		return want(len(ip.Tags) == 1 && ip.Tags[0] == "shop" && ip.Description == "the shop", "got %+v", ip)
	})
	for place, server := range servers {
		step(fmt.Sprintf("attach to server %d", place), func() error {
			answer, err := api.AttachFlexibleIP(&flexibleip.AttachFlexibleIPRequest{FipsIDs: []string{ip.ID}, ServerID: server})
			if err != nil {
				return err
			}
			if status := answer.FlexibleIPs[0].Status; status != flexibleip.FlexibleIPStatusUpdating {
				return fmt.Errorf("it is %s at once", status)
			}
			err = wait()
			return errors.Join(err, want(ip.Status == flexibleip.FlexibleIPStatusAttached && ip.ServerID != nil && *ip.ServerID == server, "got %+v", ip))
		})
	}
	step("a change while another one runs", func() error {
		request := &flexibleip.DetachFlexibleIPRequest{FipsIDs: []string{ip.ID}}
		if _, err := api.DetachFlexibleIP(request); err != nil {
			return err
		}
		_, err := api.DetachFlexibleIP(request)
		return errors.Join(wantError[*scw.TransientStateError](err), wait(), want(ip.ServerID == nil, "at %v", ip.ServerID))
	})
	step("detach what is not attached", func() error {
		_, err := api.DetachFlexibleIP(&flexibleip.DetachFlexibleIPRequest{FipsIDs: []string{ip.ID}})
		return err
	})
	step("attach to a server that does not exist", func() error {
		_, err := api.AttachFlexibleIP(&flexibleip.AttachFlexibleIPRequest{FipsIDs: []string{ip.ID}, ServerID: ip.ID})
		return wantError[*scw.InvalidArgumentsError](err)
	})
	step("a key that may only read", func() error {
		if _, err := reader.GetFlexibleIP(&flexibleip.GetFlexibleIPRequest{FipID: ip.ID}); err != nil {
			return err
		}
		return wantError[*scw.PermissionsDeniedError](reader.DeleteFlexibleIP(&flexibleip.DeleteFlexibleIPRequest{FipID: ip.ID}))
	})
	step("an IPv6 network at a server", func() (err error) {
		v4 := ip
		ip, err = api.CreateFlexibleIP(&flexibleip.CreateFlexibleIPRequest{IsIPv6: true, ServerID: &servers[0]})
		if err != nil {
			ip = v4
			return err
		}
		network := ip
		err = wait()
		network, ip = ip, v4
		size, _ := network.IPAddress.Mask.Size()
		return errors.Join(err, want(size == 64 && network.ServerID != nil, "got %+v", network))
	})
	step("the quota", func() error {
		_, err := api.CreateFlexibleIP(&flexibleip.CreateFlexibleIPRequest{})
		return wantError[*scw.QuotasExceededError](err)
	})
	step("delete, and what is gone", func() error {
		if err := api.DeleteFlexibleIP(&flexibleip.DeleteFlexibleIPRequest{FipID: ip.ID}); err != nil {
			return err
		}
		_, err := api.GetFlexibleIP(&flexibleip.GetFlexibleIPRequest{FipID: ip.ID})
		return wantError[*scw.PermissionsDeniedError](err)
	})
	step("the next one has its id", func() error {
		next, err := api.CreateFlexibleIP(&flexibleip.CreateFlexibleIPRequest{})
		if err != nil {
			return err
		}
		return want(next.ID == ip.ID && next.CreatedAt.Equal(*ip.CreatedAt) && len(next.Tags) == 0, "got %+v", next)
	})
}

func metal(api *baremetal.API, servers []string) {
	step("servers", func() error {
		all, err := api.ListServers(&baremetal.ListServersRequest{}, scw.WithAllPages())
		if err != nil {
			return err
		}
		return want(len(all.Servers) == len(servers), "%d servers", len(all.Servers))
	})
	// The CLI looks for the offer of each server.
	step("offers", func() error {
		all, err := api.ListOffers(&baremetal.ListOffersRequest{}, scw.WithAllPages())
		found, getErr := api.GetServer(&baremetal.GetServerRequest{ServerID: servers[0]})
		if err := errors.Join(err, getErr); err != nil {
			return err
		}
		return want(len(all.Offers) == 1 && all.Offers[0].ID == found.OfferID, "offers %+v", all.Offers)
	})
	step("stop and start", func() error {
		if _, err := api.StopServer(&baremetal.StopServerRequest{ServerID: servers[0]}); err != nil {
			return err
		}
		found, err := api.GetServer(&baremetal.GetServerRequest{ServerID: servers[0]})
		if err != nil {
			return err
		}
		_, err = api.StartServer(&baremetal.StartServerRequest{ServerID: servers[0]})
		return errors.Join(err, want(found.Status == baremetal.ServerStatusStopped && len(found.IPs) == 2, "got %+v", found))
	})
	step("delete a server", func() error {
		if _, err := api.DeleteServer(&baremetal.DeleteServerRequest{ServerID: servers[0]}); err != nil {
			return err
		}
		_, err := api.GetServer(&baremetal.GetServerRequest{ServerID: servers[0]})
		var answer *scw.ResponseError
		return want(errors.As(err, &answer) && answer.StatusCode == 404, "got %T %v", err, err)
	})
}
