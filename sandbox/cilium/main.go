// Cilium's LB IPAM and BGP control plane without a datapath: as the operator, or as the agent of one node. Cilium's own
// commands need a kernel with its programs, and versions of modules that the Go proxy does not have; this one runs the
// same code through its public packages, as Cilium's tests do.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/cilium/hive/cell"
	"github.com/cilium/statedb"
	"k8s.io/client-go/util/workqueue"

	daemonk8s "github.com/cilium/cilium/daemon/k8s"
	operatorbgp "github.com/cilium/cilium/operator/pkg/bgp"
	"github.com/cilium/cilium/operator/pkg/lbipam"
	"github.com/cilium/cilium/pkg/bgp"
	cmtypes "github.com/cilium/cilium/pkg/clustermesh/types"
	"github.com/cilium/cilium/pkg/datapath/tables"
	envoy "github.com/cilium/cilium/pkg/envoy/config"
	"github.com/cilium/cilium/pkg/hive"
	ipam "github.com/cilium/cilium/pkg/ipam/option"
	"github.com/cilium/cilium/pkg/k8s"
	v2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	"github.com/cilium/cilium/pkg/k8s/client"
	"github.com/cilium/cilium/pkg/k8s/resource"
	k8stables "github.com/cilium/cilium/pkg/k8s/tables"
	"github.com/cilium/cilium/pkg/k8s/utils"
	"github.com/cilium/cilium/pkg/kpr"
	"github.com/cilium/cilium/pkg/lbipamconfig"
	"github.com/cilium/cilium/pkg/loadbalancer"
	"github.com/cilium/cilium/pkg/loadbalancer/reflectors"
	"github.com/cilium/cilium/pkg/loadbalancer/writer"
	"github.com/cilium/cilium/pkg/metrics"
	"github.com/cilium/cilium/pkg/node"
	nodetypes "github.com/cilium/cilium/pkg/node/types"
	"github.com/cilium/cilium/pkg/nodeipamconfig"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/source"
	"github.com/cilium/cilium/pkg/svcrouteconfig"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file of the cluster")
	nodeName := flag.String("node", "", "the node whose agent this is; the operator when absent")
	flag.Parse()
	cells := operator()
	if *nodeName != "" {
		nodetypes.SetName(*nodeName)
		cells = agent()
	}
	h := hive.New(append(cells, common())...)
	hive.AddConfigOverride(h, func(config *client.SharedConfig) { config.K8sKubeConfigPath = *kubeconfig })
	if err := h.Run(slog.Default()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func common() cell.Cell {
	return cell.Group(
		metrics.Cell,
		client.Cell,
		cell.Provide(func() *option.DaemonConfig {
			option.Config = &option.DaemonConfig{
				EnableBGPControlPlane:             true,
				EnableBGPControlPlaneStatusReport: true,
				BGPSecretsNamespace:               "kube-system",
				BGPRouterIDAllocationMode:         option.BGPRouterIDAllocationModeDefault,
				IPAM:                              ipam.IPAMKubernetes,
				EnableIPv4:                        true,
			}
			return option.Config
		}),
	)
}

func operator() []cell.Cell {
	return []cell.Cell{
		cell.Config(k8s.DefaultConfig),
		cell.Provide(
			k8s.DefaultServiceWatchConfig,
			k8s.ServiceResource,
			k8s.CiliumNodeResource,
			k8s.CiliumBGPAdvertisementResource,
			k8s.CiliumBGPPeerConfigResource,
			k8s.CiliumBGPNodeConfigResource,
			pools,
			clusterConfigs,
			nodeConfigOverrides,
		),
		lbipam.Cell,
		operatorbgp.Cell,
	}
}

// The operator's own package for these would pull in a module that the Go proxy does not have.
func pools(lc cell.Lifecycle, cs client.Clientset, mp workqueue.MetricsProvider) resource.Resource[*v2.CiliumLoadBalancerIPPool] {
	return resource.New[*v2.CiliumLoadBalancerIPPool](lc, utils.ListerWatcherFromTyped(cs.CiliumV2().CiliumLoadBalancerIPPools()), mp)
}

func clusterConfigs(lc cell.Lifecycle, cs client.Clientset, mp workqueue.MetricsProvider) resource.Resource[*v2.CiliumBGPClusterConfig] {
	return resource.New[*v2.CiliumBGPClusterConfig](lc, utils.ListerWatcherFromTyped(cs.CiliumV2().CiliumBGPClusterConfigs()), mp)
}

func nodeConfigOverrides(lc cell.Lifecycle, cs client.Clientset, mp workqueue.MetricsProvider) resource.Resource[*v2.CiliumBGPNodeConfigOverride] {
	return resource.New[*v2.CiliumBGPNodeConfigOverride](lc, utils.ListerWatcherFromTyped(cs.CiliumV2().CiliumBGPNodeConfigOverrides()), mp)
}

func agent() []cell.Cell {
	return []cell.Cell{
		bgp.Cell,
		svcrouteconfig.Cell,
		// Empty tables in place of the routes, devices and addresses of the missing datapath.
		cell.Provide(
			tables.NewRouteTable,
			tables.NewDeviceTable,
			tables.NewNodeAddressTable,
			statedb.RWTable[*tables.Route].ToTable,
			statedb.RWTable[*tables.Device].ToTable,
			statedb.RWTable[tables.NodeAddress].ToTable,
		),
		daemonk8s.ResourcesCell,
		k8stables.TablesCell,
		node.LocalNodeStoreTestCell,
		cell.Config(envoy.SecretSyncConfig{}),
		cell.Config(cmtypes.DefaultClusterInfo),
		// Services and their endpoints: BGP announces what this table contains.
		loadbalancer.ConfigCell,
		writer.Cell,
		reflectors.Cell,
		lbipamconfig.Cell,
		nodeipamconfig.Cell,
		cell.Provide(
			func() source.Sources { return source.Sources{} },
			func() kpr.KPRConfig { return kpr.KPRConfig{KubeProxyReplacement: true} },
		),
	}
}
