// Kubernetes' own tests of the network, with the flags and the set-up of its whole test program. The whole program also
// tests storage, devices and much more, and takes longer to build.
package main

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"

	"k8s.io/kubernetes/test/e2e"
	_ "k8s.io/kubernetes/test/e2e/feature"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/network"
)

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	// The caller reads these lines. The step before this one runs all tests dry, which prints no results this way.
	ginkgo.ReportAfterEach(printResult)
	suite := &testing.T{}
	e2e.RunE2ETests(suite)
	if suite.Failed() {
		os.Exit(1)
	}
}

func printResult(report ginkgo.SpecReport) {
	// Tests that were not selected are reported too.
	if report.NumAttempts > 0 {
		fmt.Printf("RESULT %s %.0f %s\n", report.State, report.RunTime.Seconds(), report.FullText())
	}
}
