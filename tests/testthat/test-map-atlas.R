# The numbers of an atlas and their names.

test_that("an atlas is looked up at the nearest point, and is 0 outside", {
  affine <- diag(c(2, 2, 2, 1))
  image <- RNifti::asNifti(array(1:27, c(3, 3, 3)))
  RNifti::sform(image) <- structure(affine, code = 2L)
  mm <- rbind(c(0, 0, 0), c(2.4, 0, 0), c(4, 4, 4), c(4.9, 4, 4), c(5.2, 4, 4), c(-0.9, 0, 0))
  expect_identical(nearest_values(open_atlas(image), mm), c(1L, 2L, 27L, 27L, 0L, 1L))
})

test_that("labels come as table, vector or file", {
  folder <- withr::local_tempdir()
  code <- c(0, 3, 17, 5)
  expected <- c("none", "Caudate L", "Hippocampus R", "5")
  lines <- list(c("# index name", "3 Caudate L", "17 Hippocampus R"),
                c("index,name", "3,\"Caudate L\"", "17,\"Hippocampus R\""),
                c("3\tCaudate L\t255 0 0", "17\tHippocampus R\t0 1 2"))
  for (text in lines) {
    file <- file.path(folder, "labels.txt")
    writeLines(text, file)
    expect_identical(atlas_names(code, file), expected)
  }
  renamed <- data.frame(id = c(3, 17), n = c("Caudate L", "Hippocampus R"))
  expect_identical(atlas_names(code, renamed), expected)
  expect_identical(atlas_names(code, c(`3` = "Caudate L", `17` = "Hippocampus R")), expected)
  expect_identical(atlas_names(c(1, 2), c("a", "b")), c("a", "b"))
  expect_identical(atlas_names(c(0, 2), NULL), c("none", "2"))
})

# Names of `code` by a file with these lines.
names_by <- function(code, lines, ending = ".txt") {
  file <- withr::local_tempfile(lines = lines, fileext = ending)
  atlas_names(code, file)
}

test_that("AAL's files are read, with either of their numbers", {
  three <- c("36 Cingulum_Post_R 4022", "37 Hippocampus_L 4101", "38 Hippocampus_R 4102")
  expected <- c("Hippocampus_L", "none", "Cingulum_Post_R")
  expect_identical(names_by(c(37, 0, 36), three), expected)
  expect_identical(names_by(c(4101, 0, 4022), three), expected)
  expect_identical(names_by(c(37, 0, 36), gsub(" ", "\t", three)), expected)
  expect_identical(names_by(c(4101, 0, 4022), gsub(" ", ",", three)), expected)
  expect_identical(names_by(c(38, 40), three), c("Hippocampus_R", "40"))
  two <- c("2001 Precentral_L", "2002 Precentral_R", "4101 Hippocampus_L")
  expect_identical(names_by(c(4101, 2002, 1), two), c("Hippocampus_L", "Precentral_R", "1"))
  name_first <- c("FAG\tPrecentral_L\t2001", "FAD\tPrecentral_R\t2002", "HG\tHippocampus_L\t4101")
  expect_identical(names_by(c(4101, 2002), name_first), c("Hippocampus_L", "Precentral_R"))
  expect_identical(names_by(c(4101, 2002), sub("^[^\t]*\t", "", name_first)),
                   c("Hippocampus_L", "Precentral_R"))
  # The same as a data frame, also with columns that are not codes.
  table <- utils::read.table(text = three)
  expect_identical(atlas_names(c(37, 0, 36), table), expected)
  expect_identical(atlas_names(c(4101, 0, 4022), table), expected)
  coloured <- data.frame(red = c(5, 5, 7), value = 5:7, name = c("a", "b", "c"))
  expect_identical(atlas_names(c(5, 7), coloured), c("a", "c"))
})

test_that("FreeSurfer's and ITK-SNAP's tables are read without their colours", {
  lut <- c("#$Id: a table", "", "#No. Label Name:                R   G   B   A",
           "0   Unknown                        0   0   0   0",
           "17  Left-Hippocampus               220 216 20  0",
           "53  Right-Hippocampus              220 216 20  0",
           "1001 ctx-lh-bankssts 25  100 40  0")
  expected <- c("Right-Hippocampus", "Unknown", "ctx-lh-bankssts", "20")
  expect_identical(names_by(c(53, 0, 1001, 20), lut), expected)
  expect_identical(names_by(c(53, 0, 1001, 20), sub(" 0$", "", lut), ".lut"), expected)
  snap <- c("# ITK-SnAP Label Description File",
            "    0     0    0    0        0  0  0    \"Clear Label\"",
            "    1   255    0    0        1  1  1    \"Hippocampus, left\"",
            "    2     0  255    0        1  1  1    \"Area 2\"")
  expect_identical(names_by(c(1, 2), snap), c("Hippocampus, left", "Area 2"))
})

test_that("a number may be part of a name", {
  areas <- c("1 Area 17", "2 Area 18", "3 Area 44")
  expect_identical(names_by(c(3, 1), areas), c("Area 44", "Area 17"))
  lobules <- c("91 Cerebellum 3", "93 Cerebellum 4 5", "95 Vermis")
  expect_identical(names_by(c(93, 91), lobules), c("Cerebellum 4 5", "Cerebellum 3"))
  expect_identical(names_by(2, c("1;lHip;Left Hippocampus", "2;rHip;Right Hippocampus")), "rHip")
})

test_that("XML of FSL and SPM is read", {
  fsl <- function(type) c(
    "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>", "<atlas version=\"1.0\">",
    paste0("<header><name>Small</name><type>", type, "</type></header>"), "<data>",
    "<!-- <label index=\"7\" x=\"1\" y=\"1\" z=\"1\">Not in use</label> -->",
    "<label index=\"0\" x=\"58\" y=\"37\" z=\"50\">Left Cerebral White Matter</label>",
    "<label index=\"1\" x=\"70\" y=\"63\" z=\"35\">Grey &amp; white &lt;left&gt;</label>",
    "<label index=\"2\" x=\"3\" y=\"4\"",
    "  z=\"5\">Heschl&apos;s Gyrus (includes H1 &#38; H2)</label>",
    "</data>", "</atlas>")
  # The index counts volumes from 0; the value 0 of an image is the background.
  expect_identical(names_by(0:3, fsl("Probabilistic"), ".xml"),
                   c("none", "Left Cerebral White Matter", "Grey & white <left>",
                     "Heschl's Gyrus (includes H1 & H2)"))
  expect_identical(names_by(0:3, fsl("Label"), ".xml"),
                   c("Left Cerebral White Matter", "Grey & white <left>",
                     "Heschl's Gyrus (includes H1 & H2)", "3"))
  spm <- c("<atlas><header><type>Label</type></header><data>",
           "<label><index>2001</index><name>Precentral_L</name></label>", "<label>",
           "  <index>4101</index>", "  <name>Hippocampus_L</name>", "</label>", "</data></atlas>")
  expect_identical(names_by(c(4101, 2001), spm, ".xml"), c("Hippocampus_L", "Precentral_L"))
})

test_that("label files that are missing or have no labels are refused", {
  expect_snapshot(refusal(atlas_names(1, "nowhere.txt")))
  expect_snapshot(refusal(atlas_names(1, "folder/labels")))
  expect_identical(atlas_names(1:2, "Caudate"), c("Caudate", "2"))
  folder <- withr::local_tempdir()
  writeLines(c("# nothing", "text alone"), file.path(folder, "empty.txt"))
  expect_snapshot(file_refusal(atlas_names(1, file.path(folder, "empty.txt")), folder))
  writeLines("<atlas><label>none</label></atlas>", file.path(folder, "empty.xml"))
  expect_snapshot(file_refusal(atlas_names(1, file.path(folder, "empty.xml")), folder))
})

test_that("labels of another atlas, or without an atlas, are mentioned", {
  withr::local_seed(1)
  images <- read_images(array(stats::rnorm(216 * 20, 1), c(6, 6, 6, 20)), threshold = -Inf)
  fit <- n2gfl(images, rowSums(images$x[, 20:22]), lambda1 = 0.2, lambda2 = 0.05)
  atlas <- RNifti::asNifti(array(rep(c(0, 2001:2005), each = 36), c(6, 6, 6)))
  warned <- function(labels) {
    cat(tryCatch(region_table(fit, atlas, labels), warning = conditionMessage))
  }
  expect_snapshot(warned(c("Precentral", "Hippocampus", "Insula")))
  expect_snapshot(warned(c(`2001` = "Precentral", `2002` = "Hippocampus", `7` = "Insula")))
  expect_no_warning(region_table(fit, atlas, data.frame(code = 2001:2003, n = letters[1:3])))
  expect_snapshot(refusal(region_table(fit, labels = "Precentral")))
})
