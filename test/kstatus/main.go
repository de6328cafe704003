// Prints how kstatus judges each object of a list on standard input, as `kubectl get -o json` prints it. Flux waits by
// these answers, and Helm from version 4 on.
package main

import (
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	list := unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON(input); err != nil {
		panic(err)
	}
	for _, object := range list.Items {
		result, err := status.Compute(&object)
		if err != nil {
			panic(err)
		}
		fmt.Println(object.GetName(), result.Status)
	}
}
