# Edges of a lattice by definition: every pair of nodes, compared one by one.
edges_by_definition <- function(coords, reach) {
  pairs <- which(upper.tri(diag(nrow(coords))), arr.ind = TRUE)
  apart <- abs(coords[pairs[, 1], , drop = FALSE] - coords[pairs[, 2], , drop = FALSE])
  near <- apply(apart, 1, max) == 1 & rowSums(apart) <= reach
  pairs <- pairs[near, , drop = FALSE]
  pairs <- pairs[order(pairs[, 1], pairs[, 2]), , drop = FALSE]
  cbind(as.vector(pairs[, 1]), as.vector(pairs[, 2]))
}

edges_of <- function(graph) cbind(graph$from, graph$to)

expect_valid_graph <- function(graph) {
  expect_s3_class(graph, "n2gfl_graph")
  expect_type(graph$n, "integer")
  expect_type(graph$from, "integer")
  expect_type(graph$to, "integer")
  expect_type(graph$weight, "double")
  expect_true(all(graph$from < graph$to & graph$from >= 1 & graph$to <= graph$n))
  expect_true(all(graph$weight > 0))
  expect_identical(order(graph$from, graph$to), seq_along(graph$from))
  expect_false(anyDuplicated(edges_of(graph)) > 0)
}

test_that("grids have the edges of the definition in every dimension and neighbourhood", {
  cases <- list(
    list(7, 2, 1), list(1, 2, 1), list(c(4, 3), 4, 1), list(c(4, 3), 8, 2), list(c(1, 5), 8, 2),
    list(c(2, 2), 8, 2), list(c(3, 2, 4), 6, 1), list(c(3, 2, 4), 18, 2), list(c(3, 2, 4), 26, 3),
    list(c(1, 2, 3), 26, 3), list(c(2, 1, 2), 18, 2)
  )
  for (case in cases) {
    g <- graph_grid(case[[1]], neighbours = case[[2]])
    expect_valid_graph(g)
    expect_identical(g$n, as.integer(prod(case[[1]])))
    expect_identical(g$coords, arrayInd(seq_len(g$n), case[[1]]))
    expect_identical(edges_of(g), edges_by_definition(g$coords, case[[3]]))
    expect_identical(g$dim, as.integer(case[[1]]))
  }
})

test_that("the default neighbourhood is the smallest", {
  expect_identical(graph_grid(c(3, 3)), graph_grid(c(3, 3), 4))
  expect_identical(graph_grid(c(3, 3, 3)), graph_grid(c(3, 3, 3), 6))
  expect_identical(graph_mask(array(TRUE, c(3, 3, 3))), graph_mask(array(TRUE, c(3, 3, 3)), 6))
})

test_that("masks keep the edges inside, in R's array order", {
  dims <- c(4, 5, 3)
  mask <- array(sin(seq_len(prod(dims)) * 1.7) > -0.2, dims)
  for (k in 1:3) {
    g <- graph_mask(mask, neighbours = c(6, 18, 26)[k])
    expect_valid_graph(g)
    expect_identical(g$coords, unname(which(mask, arr.ind = TRUE)))
    expect_identical(edges_of(g), edges_by_definition(g$coords, k))
    expect_identical(g$mask, mask)
  }
})

test_that("a full mask is a grid, and numbers count as inside when not zero", {
  full <- graph_mask(matrix(TRUE, 4, 3))
  grid <- graph_grid(c(4, 3))
  expect_identical(full[c("n", "from", "to", "weight")], grid[c("n", "from", "to", "weight")])
  mask <- matrix(c(0, -1, 0.5, 2, 0, 3), 2)
  expect_identical(graph_mask(mask), graph_mask(mask != 0))
  expect_identical(edges_of(graph_mask(c(TRUE, TRUE, FALSE, TRUE))), cbind(1L, 2L))
})

test_that("images of both packages, files and arrays give the same graph", {
  mask <- array(as.integer(cos(1:60) > 0), c(5, 4, 3))
  expected <- graph_mask(mask)
  expect_identical(graph_mask(oro.nifti::nifti(mask)), expected)
  expect_identical(graph_mask(RNifti::asNifti(mask)), expected)
  expect_identical(graph_mask(RNifti::asNifti(mask, internal = TRUE)), expected)
  expect_identical(graph_mask(array(mask, c(5, 4, 3, 1))), expected)
  path <- withr::local_tempfile(fileext = ".nii.gz")
  RNifti::writeNifti(mask, path)
  expect_identical(graph_mask(path), expected)
})

test_that("a stored left-right flip does not move voxels", {
  mask <- array(as.integer(cos(1:60) > 0), c(5, 4, 3))
  image <- RNifti::asNifti(mask)
  RNifti::sform(image) <- structure(diag(c(-2, 2, 2, 1)), code = 2L)
  path <- withr::local_tempfile(fileext = ".nii.gz")
  RNifti::writeNifti(image, path)
  expect_identical(graph_mask(path), graph_mask(mask))
})

test_that("chains join neighbours, and one node has no edge", {
  g <- graph_chain(5)
  expect_valid_graph(g)
  expect_identical(edges_of(g), cbind(1:4, 2:5))
  expect_length(graph_chain(1)$from, 0)
  expect_identical(graph_chain(1)$n, 1L)
})

test_that("edge lists are sorted, turned, merged and cleaned", {
  g <- graph_edges(c(3, 1, 2, 4, 2), c(1, 3, 1, 2, 4), weight = c(1, 2, 0.5, 0, 0), n = 6)
  expect_valid_graph(g)
  expect_identical(edges_of(g), rbind(c(1L, 2L), c(1L, 3L)))
  expect_identical(g$weight, c(0.5, 3))
  expect_identical(g$n, 6L)
  expect_identical(graph_edges(1:2, 2:3)$n, 3L)
  expect_identical(graph_edges(integer(0), integer(0), n = 4)$n, 4L)
  expect_identical(graph_edges(c(1, 2), c(2, 1))$weight, 2)
})

test_that("merging sums many parallel edges as a plain loop does", {
  from <- (seq_len(500) * 7) %% 11 + 1
  to <- (seq_len(500) * 5) %% 13 + 1
  keep <- from != to
  weight <- abs(sin(seq_len(500)))
  g <- graph_edges(from[keep], to[keep], weight[keep], n = 13)
  expect_valid_graph(g)
  total <- matrix(0, 13, 13)
  for (k in which(keep)) {
    ends <- sort(c(from[k], to[k]))
    total[ends[1], ends[2]] <- total[ends[1], ends[2]] + weight[k]
  }
  expect_equal(g$weight, total[edges_of(g)], tolerance = 1e-14)
  expect_identical(nrow(edges_of(g)), sum(total > 0))
})

test_that("a side shared by two triangles is one edge of weight 1", {
  g <- graph_mesh(rbind(c(1, 2, 3), c(3, 2, 4)), n = 5)
  expect_valid_graph(g)
  expect_identical(edges_of(g), rbind(c(1L, 2L), c(1L, 3L), c(2L, 3L), c(2L, 4L), c(3L, 4L)))
  expect_identical(g$weight, rep(1, 5))
  expect_identical(g$n, 5L)
})

test_that("adjacency matrices of every class give the same graph", {
  expected <- graph_edges(c(1, 2, 1), c(2, 3, 4), weight = c(1, 2.5, 0.5), n = 5)
  dense <- matrix(0, 5, 5)
  dense[edges_of(expected)] <- expected$weight
  dense <- dense + t(dense)
  sparse <- Matrix::Matrix(dense, sparse = TRUE)
  expect_s4_class(sparse, "dsCMatrix")
  expect_identical(as_graph(dense), expected)
  expect_identical(as_graph(sparse), expected)
  expect_identical(as_graph(as(sparse, "generalMatrix")), expected)
  expect_identical(as_graph(as(sparse, "TsparseMatrix")), expected)
  expect_identical(as_graph(as(sparse, "RsparseMatrix")), expected)
  expect_identical(as_graph(Matrix::Matrix(dense, sparse = FALSE)), expected)
  pattern <- graph_edges(c(1, 2, 1), c(2, 3, 4), n = 5)
  expect_identical(as_graph(dense != 0), pattern)
  expect_identical(as_graph(sparse != 0), pattern)
  expect_identical(as_graph(as(sparse, "nMatrix")), pattern)
  expect_identical(as_graph(expected), expected)
})

test_that("weights that differ by rounding are symmetric, stored zeros are not edges", {
  dense <- matrix(c(0, 1, 1 + 1e-13, 0), 2)
  expect_identical(edges_of(as_graph(dense)), cbind(1L, 2L))
  zeros <- Matrix::sparseMatrix(c(1, 2, 1), c(2, 1, 3), x = c(1, 1, 0), dims = c(3, 3))
  expect_identical(edges_of(as_graph(zeros)), cbind(1L, 2L))
})

test_that("igraph graphs are converted, with and without weights", {
  skip_if_not_installed("igraph")
  ring <- igraph::make_ring(5)
  expect_identical(edges_of(as_graph(ring)), rbind(c(1L, 2L), c(1L, 5L), c(2L, 3L), c(3L, 4L),
                                                   c(4L, 5L)))
  ring <- igraph::set_edge_attr(ring, "weight", value = c(1, 2, 3, 4, 5))
  expect_identical(as_graph(ring)$weight, c(1, 5, 2, 3, 4))
  named <- igraph::graph_from_literal(a - b, b - c)
  expect_identical(edges_of(as_graph(named)), cbind(1:2, 2:3))
  expect_identical(as_graph(igraph::make_empty_graph(3, directed = FALSE))$n, 3L)
})

test_that("print describes the graph", {
  expect_snapshot(graph_grid(c(4, 3)))
  expect_snapshot(graph_edges(c(1, 2), c(2, 3), weight = c(0.5, 2), n = 4))
  expect_snapshot(graph_chain(1))
  shown <- capture.output(value <- withVisible(print(graph_chain(2))))
  expect_identical(shown[1], "Graph (chain): 2 nodes, 1 edge")
  expect_identical(value, list(value = graph_chain(2), visible = FALSE))
})

test_that("plot draws every kind of graph and restores par", {
  withr::local_pdf(NULL)
  before <- graphics::par("mar")
  expect_identical(dim(plot(graph_chain(4))), c(4L, 2L))
  expect_identical(plot(graph_grid(c(3, 2)))[, 1], c(1, 2, 3, 1, 2, 3))
  expect_identical(dim(plot(graph_grid(c(2, 2, 2)), labels = FALSE, col = 2, cex = 2)), c(8L, 2L))
  expect_identical(dim(plot(graph_grid(3))), c(3L, 2L))
  expect_identical(dim(plot(graph_edges(1, 2, n = 3), pch = 1)), c(3L, 2L))
  expect_identical(graphics::par("mar"), before)
})

test_that("bad graphs are refused in one sentence", {
  expect_snapshot(refusal(graph_grid(c(3, 0))))
  expect_snapshot(refusal(graph_grid(1:4)))
  expect_snapshot(refusal(graph_grid("a")))
  expect_snapshot(refusal(graph_grid(c(2.5, 3))))
  expect_snapshot(refusal(graph_grid(c(2000, 2000, 2000))))
  expect_snapshot(refusal(graph_grid(c(3, 3), neighbours = 6)))
  expect_snapshot(refusal(graph_grid(5, neighbours = "all")))
  expect_snapshot(refusal(graph_mask(array(TRUE, c(2, 2, 2, 2)))))
  expect_snapshot(refusal(graph_mask(c(TRUE, NA))))
  expect_snapshot(refusal(graph_mask(matrix(0, 2, 2))))
  expect_snapshot(refusal(graph_mask(list(1))))
  expect_snapshot(refusal(graph_mask("no-such-file.nii")))
  expect_snapshot(refusal(graph_chain(0)))
  expect_snapshot(refusal(graph_chain(NA)))
  expect_snapshot(refusal(graph_edges(1:2, 3)))
  expect_snapshot(refusal(graph_edges(1, 5, n = 3)))
  expect_snapshot(refusal(graph_edges(0, 1)))
  expect_snapshot(refusal(graph_edges(1.5, 2)))
  expect_snapshot(refusal(graph_edges(c(1, NA), c(2, 3))))
  expect_snapshot(refusal(graph_edges("a", "b")))
  expect_snapshot(refusal(graph_edges(1:2, c(2, 2))))
  expect_snapshot(refusal(graph_edges(1, 2, weight = -1)))
  expect_snapshot(refusal(graph_edges(1, 2, weight = NaN)))
  expect_snapshot(refusal(graph_edges(1, 2, weight = 1:2)))
  expect_snapshot(refusal(graph_edges(integer(0), integer(0))))
  expect_snapshot(refusal(graph_mesh(matrix(1:4, 2))))
  expect_snapshot(refusal(graph_mesh(cbind(0, 1, 2))))
  expect_snapshot(refusal(graph_mesh(cbind(1, 2, 2))))
  expect_snapshot(refusal(as_graph("a")))
  expect_snapshot(refusal(as_graph(NULL)))
  expect_snapshot(refusal(as_graph(matrix(0, 2, 3))))
  expect_snapshot(refusal(as_graph(matrix("a", 2, 2))))
  expect_snapshot(refusal(as_graph(matrix(c(0, 1, 0, 0), 2))))
  expect_snapshot(refusal(as_graph(Matrix::sparseMatrix(1, 2, x = 3, dims = c(2, 2)))))
  expect_snapshot(refusal(as_graph(diag(2))))
  expect_snapshot(refusal(as_graph(matrix(c(0, -1, -1, 0), 2))))
  expect_snapshot(refusal(as_graph(matrix(c(0, NA, NA, 0), 2))))
  expect_snapshot(refusal(as_graph(matrix(c(0, Inf, Inf, 0), 2))))
  expect_snapshot(refusal(plot(graph_chain(6000))))
})

test_that("directed igraph graphs are refused", {
  skip_if_not_installed("igraph")
  expect_snapshot(refusal(as_graph(igraph::make_ring(3, directed = TRUE))))
})
