//! Every kernel on arbitrary small graphs.

use anabranch_graph::Graph;
use anabranch_graph::kernels::betweenness::Scale;
use anabranch_graph::kernels::pagerank::Parameters;
use anabranch_graph::kernels::sssp::LightFirst;
use anabranch_graph::kernels::{self, KernelError};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::kernels::graphs;

type Build = fn(Vec<(u32, u32, u32)>) -> Graph<u32>;

proptest! {
    #[test]
    fn kernels_agree_with_plain_algorithms(
        edges in vec((0u32..40, 0u32..40, 0u32..4), 0..150),
        root in 0u32..40,
        delta in proptest::option::of(0.1f64..20.0),
    ) {
        for graph in graphs(&edges) {
            let components = kernels::connected_components(&graph, &()).unwrap();
            prop_assert_eq!(kernels::components::verify(&graph, &components), Ok(()));
            let triangles = kernels::count_triangles(&graph, &()).unwrap();
            prop_assert_eq!(kernels::triangles::verify(&graph, triangles), Ok(()));
            let parameters = Parameters { max_iterations: 1000, ..Default::default() };
            let rank = kernels::pagerank(&graph, &parameters, &()).unwrap();
            prop_assert_eq!(kernels::pagerank::verify(&graph, &rank, &parameters), Ok(()));
            match kernels::bfs(&graph, root, &()) {
                Ok(found) => prop_assert_eq!(kernels::bfs::verify(&graph, root, &found), Ok(())),
                Err(error) => {
                    let num_vertices = graph.num_vertices();
                    prop_assert!(root as usize >= num_vertices);
                    prop_assert_eq!(error, KernelError::NoSuchVertex { vertex: root, num_vertices });
                    continue;
                }
            }
            for scale in [Scale::Normalized, Scale::Pairs, Scale::Gap] {
                let sources = if root == 0 { &[0][..] } else { &[root, 0] };
                let scores = kernels::betweenness(&graph, sources, scale, &()).unwrap();
                prop_assert_eq!(kernels::betweenness::verify(&graph, sources, scale, &scores), Ok(()));
            }
        }
        let builds: [Build; 2] = [Graph::undirected_weighted, Graph::directed_weighted];
        for build in builds {
            let (graph, copy) = (build(edges.clone()), build(edges.clone()));
            if let Ok(distances) = kernels::sssp(&graph, root, delta, &()) {
                prop_assert_eq!(kernels::sssp::verify(&graph, root, &distances), Ok(()));
                let parents = kernels::sssp::parents(&graph, root, &distances, &()).unwrap();
                prop_assert_eq!(kernels::sssp::verify_parents(&graph, root, &distances, &parents), Ok(()));
                // The verification needs rows by vertex.
                let light_first = LightFirst::new(copy);
                prop_assert_eq!(&light_first.sssp(root, delta, &()).unwrap(), &distances);
                let parents = light_first.parents(root, &distances, &()).unwrap();
                prop_assert_eq!(kernels::sssp::verify_parents(&graph, root, &distances, &parents), Ok(()));
            }
        }
    }
}
