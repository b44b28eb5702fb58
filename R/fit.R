#' Fit a fused lasso on a graph, nonnegative by default
#'
#' Fits a linear or logistic model, or one for counts, times to an event or ordered classes, whose
#' coefficients are sparse and piecewise constant on a graph, for a grid of the two penalties. Each
#' fit comes with its relative duality gap, an upper bound on how far its objective is from the
#' optimum.
#'
#' @details
#' With features \eqn{x_i} and graph edges \eqn{(j, k)} of weight \eqn{w_{jk}}, the fit minimises
#' over the coefficients \eqn{\beta}, the intercept \eqn{c} and the covariates' coefficients
#' \eqn{\gamma}
#' \deqn{\frac{1}{N} \sum_i v_i \, \ell(y_i, \eta_i) + \lambda_1 \sum_j u_j |\beta_j| +
#'   \lambda_2 \sum_{(j,k)} w_{jk} |\beta_j - \beta_k|, \qquad
#'   \eta_i = x_i'\beta + z_i'\gamma + c + o_i,}{
#'   (1/N) sum_i v_i loss(y_i, eta_i) + lambda1 sum_j u_j |beta_j| +
#'   lambda2 sum_(j,k) w_jk |beta_j - beta_k|,  eta_i = x_i'beta + z_i'gamma + c + o_i,}
#' subject to \eqn{\beta \ge 0} (`sign = "nonnegative"`), \eqn{\beta \le 0} (`"nonpositive"`) or
#' nothing (`"free"`). The loss is that of the `family`, see below. The weights \eqn{v} are rescaled
#' to mean 1 over the rows with a positive weight, which \eqn{N} counts. With
#' `penalty = "laplacian"` the last term is
#' \eqn{\lambda_2 \sum w_{jk} (\beta_j - \beta_k)^2}{lambda2 sum w_jk (beta_j - beta_k)^2}.
#'
#' The loss is scaled as in glmnet. Xin et al. (2015) use plain sums over the observations: their
#' \eqn{\lambda}{lambda} is \eqn{N} times the one here.
#'
#' Other models are special cases: `lambda2 = 0` is the lasso (nonnegative, unless `sign = "free"`),
#' `sign = "free"` the generalized fused lasso, and `x` the identity matrix the fused-lasso signal
#' approximator; for that one [fused_prox()] is faster.
#'
#' @section Families:
#' Penalties, signs, covariates, weights and offset mean the same for all families, and the duality
#' gap is a proof for all of them.
#'
#' * `"gaussian"`: \eqn{\ell = (y - \eta)^2 / 2}{loss = (y - eta)^2 / 2}.
#' * `"binomial"`: \eqn{\ell = \log(1 + e^{-y \eta})}{loss = log(1 + exp(-y eta))} with
#'   \eqn{y = \pm 1}{y = -1 or 1}.
#' * `"poisson"`, for counts: \eqn{\ell = e^\eta - y \eta}{loss = exp(eta) - y eta}. The mean is
#'   \eqn{e^\eta}{exp(eta)}; with the logarithm of the exposure as `offset`, \eqn{e^{\eta - o}}{
#'   exp(eta - o)} is a rate.
#' * `"cox"`, for right-censored times to an event, such as the conversion from MCI to AD: half the
#'   deviance of Cox's partial likelihood. With \eqn{R(t)} the rows at risk at the event time
#'   \eqn{t}, those whose time is at least \eqn{t}, the sum of the losses is
#'   \deqn{\sum_t D_t \log \sum_{i \in R(t)} v_i e^{\eta_i} - \sum_{i \in E} v_i \eta_i}{
#'     sum_t D_t log(sum_(i in R(t)) v_i exp(eta_i)) - sum_(i in E) v_i eta_i}
#'   up to a constant, where \eqn{E} are the rows with an event and \eqn{D_t} is the weight of the
#'   events at \eqn{t} (Breslow's treatment of ties). Only rows of the same stratum are compared.
#'   Large \eqn{\eta}{eta} means an early event: for grey matter, whose loss goes with conversion,
#'   take `sign = "nonpositive"`. There is no intercept.
#' * `"ordinal"`, for ordered classes, such as the course of a disease from AD over MCI to healthy:
#'   minus the log-likelihood of proportional odds,
#'   \eqn{P(y \le k) = 1 / (1 + e^{\eta - c_k})}{P(y <= k) = 1 / (1 + exp(eta - c_k))}, the model of
#'   `MASS::polr()`. One map \eqn{\beta} serves all levels, and large \eqn{\eta}{eta} means a high
#'   level. The cut points \eqn{c_k} between the levels take the place of the intercept and are not
#'   penalised.
#'
#' A family `"multinomial"` for classes without an order is not offered: it has a map for each class
#' against all the others, and no sign can be expected of these. Use `"ordinal"` if the classes have
#' an order, or `"binomial"` for each pair of classes.
#'
#' @section Convergence:
#' A fit has converged when its relative duality gap, the primal minus the dual objective divided by
#' the objective of the model without features, is at most `thresh`. A fit that does not get there
#' within `maxit` iterations is returned with `converged = FALSE` in its row of `grid`, and a
#' warning names the rows and their gaps. This can happen for perfectly separable classes with tiny
#' penalties. If a feature has no size penalty at all (`lambda1 = 0` or a penalty factor of 0), no
#' scaling makes the dual point feasible; the point is then moved along these features until it is,
#' so that the gap remains an upper bound. If there are as many such features as observations, the
#' gap is small only for an exact fit. With `penalty = "laplacian"` and more than 1,000 such
#' features the gap is an estimate: it counts their remaining gradient times twice the largest
#' coefficient.
#'
#' @section Rows by name:
#' Images know their files and subjects, and a matrix may have row names. If `data` has a column or
#' row names that name them, its rows are put into the order of `x`, and a message says so; `data`
#' may have further rows. A name may be a path or the end of one, a file name with or without its
#' ending, a participant (`sub-01` or `01` of the file `sub-01_T1w.nii.gz`), a participant and a
#' session in two columns, or a part of the path such as a folder. The most specific one decides. If
#' only some rows of `x` are named, it is an error. If none is, rows are taken in order, with a
#' message for images.
#'
#' The same holds for the names of `y`, `weights`, `offset`, `group` and `foldid`, for the row names
#' of a matrix of covariates, and for variables of a formula that are not in `data`. If the rows of
#' `data` were in another order than `x`, a vector without names must be one of its columns, because
#' its order is unknown otherwise (`foldid` is taken in the order of `x`).
#'
#' @section Signs:
#' With `sign = "nonnegative"` features can only rise with the response (or with the probability of
#' the modelled class, or with the hazard of the event). If most features with a strong univariate
#' effect fall instead (rise, for `"nonpositive"`), a warning says so: the levels of `y` may be in
#' the wrong order.
#'
#' @section Scale:
#' The gain of a scanner or the uptake of a tracer multiplies all features of a subject. Weights of
#' one sign cannot subtract what all features share, so it enters every prediction. There are two
#' remedies:
#'
#' * `global`, the mean of the subject's row of `x` as it is given (for images the mean over the
#'   mask, before `scale` and `harmonize`), is a variable for every formula of covariates, unless
#'   `data` has a column of that name: `covariates = ~ global`, or `diagnosis ~ age + global`. Of
#'   new subjects it is computed from their own features.
#' * `scale = "mean"` divides each row of `x` by its own mean; features are then near 1. With
#'   `scale = "TIV"`, a column of `data`, or with one number per row, each row is divided by its
#'   number and multiplied by the mean of these numbers over the rows of the fit (in a fold, over
#'   its training rows), so that the features keep their unit, whatever the unit of the numbers is.
#'
#' Dividing is right where the mean is nothing but a gain, as in PET. The mean of grey matter also
#' falls with the atrophy of the whole brain, which is signal, and dividing removes it. The
#' covariate is the milder remedy.
#'
#' With a sign constraint a warning (of class `n2gfl_scale_warning`, once in a call) names both
#' remedies if the subjects' means \eqn{m} explain more than 60 percent of the variance of the
#' features:
#' \deqn{\sum_j \frac{\mathrm{cov}(x_j, m)^2}{\mathrm{var}(m)} > 0.6 \sum_j \mathrm{var}(x_j),}{
#'   sum_j cov(x_j, m)^2 / var(m) > 0.6 sum_j var(x_j),}
#' where the covariates' linear effects are removed from \eqn{x_j} and \eqn{m}, and `harmonize` and
#' `deconfound` have been applied; of more than 128 features, or 256 subjects, as many are used,
#' evenly spread. What all features share then varies more than all the rest together.
#'
#' [cv.n2gfl()] without `lambda2` does better than that: it measures what the mean as a covariate
#' would gain. It fits one more path with it, at the `lambda2` of `lambda.min` and in the same
#' folds, and warns if the best score is better by more than two standard errors of the difference
#' between the folds' scores and by more than one of the score, whatever the share is (above 5
#' percent). If it is not, there is no warning.
#'
#' There is no advice for fewer than 20 features, or 20 subjects beyond the number of covariates,
#' and none if `scale` or `global` is used.
#'
#' @section Sites:
#' `harmonize = ~ site` removes the effects of sites (scanners, studies) on the location and the
#' scale of every feature by ComBat, the parametric empirical Bayes method of Johnson et al. (2007),
#' which gives all features of a site a common prior. For a row \eqn{i} of site \eqn{s}
#' \deqn{x_{ij} = a_j + z_i'b_j + \sigma_j (\gamma_{sj} + \sqrt{\delta_{sj}} \, e_{ij})}{
#'   x_ij = a_j + z_i'b_j + sigma_j (gamma_sj + sqrt(delta_sj) e_ij)}
#' becomes \eqn{a_j + z_i'b_j + \sigma_j e_{ij}}{a_j + z_i'b_j + sigma_j e_ij}. The result is that
#' of `sva::ComBat()`, but in a cross-validation (and in every resample) everything is estimated
#' from the training rows alone, and held-out rows are transformed by it. Every row with a positive
#' weight counts once.
#'
#' * `preserve = ~ age + sex` gives the \eqn{z_i}: covariates whose effects the features keep. By
#'   default there are none. If the sites differ in such a covariate, name it: otherwise its effects
#'   between sites are removed with those of the sites. The outcome must not be preserved, as is the
#'   custom where nothing is predicted: it is not known for new subjects, and that of a held-out
#'   subject would change its features. It is an error.
#' * `reference = "site"` leaves the features of that site as they are and brings the others to its
#'   location and scale.
#' * `harmonize.among = "controls"` estimates the effects from the `controls` alone.
#' * A site must have two rows or more in the rows of every fit. A row of a site that the fit has
#'   not seen is an error; with `new.site = "pooled"` it stays as it is, as if its site had the
#'   pooled mean and variance (\eqn{\gamma = 0}{gamma = 0}, \eqn{\delta = 1}{delta = 1}). This is
#'   what leaving out whole sites needs, `cv.n2gfl(group = data$site, new.site = "pooled")`.
#' * A feature that is constant within a site, such as a voxel that is outside of all brains there,
#'   stays as it is at all sites.
#'
#' Features are first divided by their `scale`, then harmonised, then deconfounded, then
#' standardised, all of it without a copy of `x`. A fit keeps the estimates of the sites for the
#' features that it uses, and its coefficients are those of the harmonised features.
#'
#' @section Progress:
#' In an interactive session a bar with the time left appears by itself when the work lasts for more
#' than 2 seconds, and disappears at its end. In scripts and in documents nothing is shown.
#' `trace.it = 1` shows a bar on the message stream instead, from the start and in scripts too, with
#' the name of every finished piece; in a log file each piece is a line. If progressr is switched
#' on, by `progressr::handlers(global = TRUE)` or by `progressr::with_progress()`, it shows the
#' progress, and there is no other bar. To switch the automatic bar off, set
#' `options(cli.progress_show_after = Inf)`; another number changes the 2 seconds.
#'
#' @section Memory:
#' A double matrix or a `dgCMatrix` is used in place: it is never copied, centred or scaled in
#' memory. Integer and logical matrices are converted to double once, at a cost of 8 bytes per
#' entry; other sparse classes of the Matrix package are converted to `dgCMatrix`, and its dense
#' classes to an ordinary matrix. Convert beforehand if you fit the same data many times.
#' A matrix on disk ([disk_matrix()]) may be larger than memory: its columns are read when they are
#' needed.
#'
#' @param x The features: a numeric matrix with one row per observation and one column per feature,
#'   a sparse matrix of the Matrix package, a matrix on disk ([disk_matrix()], or a file-backed
#'   matrix of bigstatsr or bigmemory), or images from [read_images()]. No missing or infinite
#'   values. See *Memory*.
#' @param y The response. For `"gaussian"` a numeric vector that is not constant. For `"binomial"` a
#'   vector with two classes: -1 and 1, 0 and 1, logical, or a factor; all mean the same. The
#'   larger value, or the later level, is the class whose probability is modelled (for text the
#'   order is alphabetical, and a message names the class). Empty factor levels are ignored. For
#'   `"poisson"` nonnegative numbers, which need not be whole. For `"ordinal"` an ordered factor,
#'   `factor(y, levels = , ordered = TRUE)` with the lowest level first. With grey matter and
#'   nonnegative coefficients the healthiest is the highest: `levels = c("AD", "MCI", "NC")`.
#'
#'   For `"cox"` a matrix with the columns `time` (positive) and `status` (1 = event, 0 = censored
#'   at that time), or in this order if it has no column names; or an object from `Surv()` of the
#'   survival package. Strata, whose baseline hazards differ, are a third column `stratum`, or an
#'   attribute `"strata"` as `glmnet::stratifySurv()` sets it.
#'
#'   Alternatively, the name of a column of `data`, or a formula with the outcome on its left and
#'   the covariates on its right, such as `diagnosis ~ age + sex` (`diagnosis ~ 1` for none).
#' @param graph The graph of the features, with one node per column of `x`: see [graph_mask()],
#'   [graph_grid()], [graph_chain()], [graph_mesh()], [graph_edges()], or anything that
#'   [as_graph()] takes (an igraph graph, an adjacency matrix). Images have a graph of their own,
#'   and `lambda2 = 0` needs no graph.
#' @param family Kind of response: `"gaussian"`, `"binomial"`, `"poisson"`, `"cox"` or `"ordinal"`,
#'   see *Families*.
#' @param sign Which coefficients are allowed: `"nonnegative"`, `"nonpositive"` or `"free"`.
#' @param ... Must be empty: arguments after it must be given by their full names.
#' @param covariates Variables without a penalty and without a sign constraint, such as age and sex:
#'   a formula without a left side, `~ age + sex`, for variables in `data`, or a numeric matrix (or
#'   vector) with one row per row of `x`. A formula is coded as in [stats::model.matrix()] with an
#'   intercept, separately for the training rows of each fold: factor levels, contrasts and the
#'   bases of `poly()` or `scale()` are learnt there. A level that occurs only among the rows held
#'   out is an error. The columns must be linearly independent of the intercept and of each other.
#' @param data A data frame with the variables of `covariates` and of `y`, one row per row of `x`.
#'   The default for images is their table of subjects. See *Rows by name*.
#' @param scale What to divide each subject's features by: `"none"`, `"mean"` (of its features), the
#'   name of a column of `data` such as the size of the head, or one positive number per row of `x`.
#'   The default is that of the images, or `"none"`. See *Scale*.
#' @param harmonize `NULL`, or a formula with the variable that names the site of each row, such as
#'   `~ site`: remove the effects of sites by ComBat. See *Sites*.
#' @param preserve,reference,harmonize.among,new.site For `harmonize`: a formula with the covariates
#'   whose effects are preserved, or `NULL` for none; a site to whose location and scale the others
#'   are brought, or `NULL` for the mean of all sites; estimate from all rows or from the `controls`
#'   alone; what to do with rows of a site that the fit has not seen. See *Sites*.
#' @param deconfound `NULL`, or `"controls"`: remove the effects of the `covariates` from the
#'   features, as estimated among the controls by (weighted) least squares: each feature is taken as
#'   it would be at the controls' mean covariates. In a cross-validation the effects are estimated
#'   on the controls of the training rows alone. The covariates are then not predictors themselves;
#'   `gamma` holds the effect of the removal on the linear predictor, so that predictions are made
#'   as with covariates. The features are not copied.
#' @param controls For `deconfound` and `harmonize.among`: the class of `y` that contains the
#'   controls, or a logical value per row of `x`. By default the class with a name such as NC, CN,
#'   HC, control or healthy, and a message names it.
#' @param weights Nonnegative weights of the observations, or `NULL` for equal weights. A row of
#'   weight 0 counts as left out.
#' @param offset A number per observation that is added to the linear predictor, or `NULL`.
#' @param lambda1 Penalties on the size of the coefficients, strictly decreasing; used with every
#'   `lambda2`. `NULL` makes a sequence of `nlambda1` values for each `lambda2`, from
#'   [lambda_max()] down to `lambda.min.ratio` times that.
#' @param lambda2 Penalties on the differences between neighbours, strictly decreasing. `NULL` makes
#'   `nlambda2` values, from 0.3 times [lambda_max()] at `lambda2 = 0` down to a hundredth of that.
#' @param nlambda1,nlambda2 How many values to make when `lambda1` or `lambda2` is `NULL`. (In
#'   [cv.n2gfl()] `nlambda2` is a budget, see *The grid* there.)
#' @param lambda.min.ratio Smallest value of `lambda1` as a fraction of the largest, when `lambda1`
#'   is `NULL`.
#' @param penalty Form of the `lambda2` term: `"fused"` (absolute differences, constant regions) or
#'   `"laplacian"` (squared differences, smooth coefficients).
#' @param penalty.factor A nonnegative number per column of `x` that multiplies `lambda1`, or `NULL`
#'   for 1. 0 leaves a feature without the size penalty, `Inf` fixes its coefficient at 0 (its node
#'   stays in the graph). Unlike in glmnet the factors are not rescaled.
#' @param standardize Divide the columns by their standard deviations (divisor N, weighted) before
#'   fitting? Coefficients always come back on the original scale, and the penalties then act on the
#'   standardised ones. Constant columns get the coefficient 0. The default is `FALSE` because
#'   equal standardised coefficients are not equal on the original scale.
#' @param intercept Fit an intercept? `"cox"` and `"ordinal"` have none, whatever is asked for.
#' @param algorithm `"pursuit"` works on the few constant regions of the solution and is the
#'   fastest (with `penalty = "laplacian"`, which has no regions, it is Newton's method with
#'   coordinate descent); `"fista"` and `"ista"` are the proximal gradient methods of the paper,
#'   with an exact proximal step. All three solve the same problem to the same gap. If a fit has
#'   hundreds of regions or more and `thresh` is at least 1e-8, pursuit switches to fista, which is
#'   faster there; `grid$iter` then counts the steps of fista.
#' @param thresh Relative duality gap at which a fit has converged.
#' @param maxit Largest number of iterations for one row of the grid.
#' @param threads Number of threads.
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*.
#' @return A list of class `n2gfl`. Its fits are ordered by `lambda2`, then by `lambda1`, both
#'   decreasing; L is their number.
#'   \item{a0}{Intercepts, a vector of length L; 0 for a family without intercept.}
#'   \item{gamma}{Coefficients of the covariates, a matrix with L columns, or `NULL`.}
#'   \item{beta}{Coefficients, a sparse matrix with L columns.}
#'   \item{grid}{A data frame with one row per fit: `lambda1`, `lambda2`, `df` (the number of
#'     regions: connected features with one nonzero value; for the Laplacian penalty the number of
#'     nonzero coefficients), `regions` (components of the support), `nonzero` (nonzero
#'     coefficients), `dev.ratio` (fraction of the null deviance explained), `gap` (relative duality
#'     gap), `iter` and `converged`.}
#'   \item{nulldev}{Deviance of the model with intercept and offset only.}
#'   \item{npasses}{How often all columns of `x` were multiplied with residuals, for all fits
#'     together. It need not be a whole number, because bounds make most multiplications
#'     unnecessary.}
#'   \item{nobs, rows, dim}{Number of observations with a positive weight; number of rows of `x`;
#'     number of features and of fits.}
#'   \item{classnames}{The two classes, the modelled one last (`"binomial"`), or the levels, the
#'     lowest first (`"ordinal"`).}
#'   \item{own}{For `"ordinal"` the cut points, a matrix with L columns and a row for each pair of
#'     neighbouring levels, such as `MCI|NC`. For `"cox"` the logarithm of the cumulative baseline
#'     hazard (at \eqn{\eta = 0}{eta = 0}), with a row for each event time of a stratum.}
#'   \item{baseline, follow_up, strata, events}{For `"cox"`: a data frame with the stratum (its
#'     number) and time of each row of `own`, the last time in the data of each stratum, the labels
#'     of the strata (or `NULL`), the number of events. This is what predictions of survival need;
#'     with `own` it takes as much memory as L numbers for each event time.}
#'   \item{family, sign, penalty, penalty.factor, control}{The choices made.}
#'   \item{offset, weighted}{Was there an offset, were there weights?}
#'   \item{call, graph}{The call, without the data, and the graph.}
#'   \item{space}{Where the features are in the brain, for images; `NULL` otherwise.}
#'   \item{scale, harmonize}{What features were divided by, and the effects of the sites, for
#'     predictions; `NULL` without them.}
#'   \item{coding, deconfound}{How the formula of the covariates was coded, or `NULL`; were their
#'     effects removed from the features?}
#' @references
#' Johnson, W. E., Li, C. and Rabinovic, A. (2007). Adjusting batch effects in microarray expression
#' data using empirical Bayes methods. *Biostatistics* 8, 118--127.
#'
#' Xin, B., Hu, L., Wang, Y. and Gao, W. (2015). Stable Feature Selection from Brain sMRI.
#' *Proceedings of the Twenty-Ninth AAAI Conference on Artificial Intelligence*, 1910--1916.
#' @seealso [predict.n2gfl()], [coef.n2gfl()], [lambda_max()], [simulate_cohort()].
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, dim = c(12, 12))
#' fit <- n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial",
#'              lambda2 = 0.002, nlambda1 = 10)
#' fit
#'
#' # The fifth fit: how many voxels, and where they are
#' beta <- coef(fit, row = 5)[-1, ]
#' sum(beta != 0)
#' image(replace(array(0, dim(cohort$mask)), cohort$mask, beta))
#'
#' # A signal on a chain, with signs and a covariate
#' x <- matrix(rnorm(50 * 30), 50)
#' age <- rnorm(50)
#' y <- rowSums(x[, 5:9]) - rowSums(x[, 20:22]) + age + rnorm(50)
#' fit <- n2gfl(x, y, graph_chain(30), sign = "free", covariates = cbind(age),
#'              lambda1 = c(0.3, 0.1, 0.03), lambda2 = c(0.3, 0.1))
#' fit$grid
#'
#' # Two scanners, and a gain that differs between subjects
#' scanner <- rep(c("A", "B"), 25)
#' scanned <- (x + 10) * ifelse(scanner == "A", 1, 1.5) * runif(50, 0.5, 1.5)
#' fit <- n2gfl(scanned, y, graph_chain(30), lambda1 = 0.1, lambda2 = 0.1, scale = "mean",
#'              harmonize = ~ scanner, data = data.frame(scanner))
#' predict(fit, scanned[1:3, ], newdata = data.frame(scanner = scanner[1:3]))
#' fit <- n2gfl(scanned, y, graph_chain(30), lambda1 = 0.1, lambda2 = 0.1, covariates = ~ global)
#' predict(fit, scanned[1:3, ])
#'
#' # The course of a disease: one map for three ordered classes
#' stage <- cut(rowSums(x[, 5:9]) + rnorm(50), c(-Inf, -1, 1, Inf), c("AD", "MCI", "NC"),
#'              ordered_result = TRUE)
#' fit <- n2gfl(x, stage, graph_chain(30), family = "ordinal", lambda1 = 0.1, lambda2 = 0.05)
#' coef(fit)[1:2, ]
#' @export
n2gfl <- function(x, y, graph = NULL,
                  family = c("gaussian", "binomial", "poisson", "cox", "ordinal"),
                  sign = c("nonnegative", "nonpositive", "free"), ..., covariates = NULL,
                  data = NULL, scale = NULL, harmonize = NULL, preserve = NULL, reference = NULL,
                  harmonize.among = c("all", "controls"), new.site = c("error", "pooled"),
                  deconfound = NULL, controls = NULL, weights = NULL, offset = NULL,
                  lambda1 = NULL, lambda2 = NULL, nlambda1 = 30, nlambda2 = 5,
                  lambda.min.ratio = 0.02, penalty = c("fused", "laplacian"),
                  penalty.factor = NULL, standardize = FALSE, intercept = TRUE,
                  algorithm = c("pursuit", "fista", "ista"), thresh = 1e-6, maxit = 10000,
                  threads = 1, trace.it = 0) {
  if (...length()) stop_unknown_argument(list(...), fit_argument_names())
  arguments <- as.list(environment())
  call <- call_without_data(match.call())
  view <- problem_at(check_problem(arguments, finite = FALSE))
  trace <- check_trace(trace.it)

  progress <- start_progress("Fitting", trace = trace, unit = "row")
  on.exit(end_progress(progress), add = TRUE)
  fits <- solve_view(view, progress = row_callback(progress))
  tick(progress, progress$running)
  warn_wrong_sign(fits$effects, view)
  warn_common_scale(view)
  warn_not_converged(fits, view$control)
  new_fit(fits, view, call)
}

# `fits` is from solve_view(). `problem` may be the view or the problem with the same weights.
new_fit <- function(fits, problem, call) {
  if (is.null(problem$data$unpenalised)) problem <- problem_at(problem)
  data <- problem$data
  control <- problem$control
  grid <- data.frame(
    lambda1 = fits$lambda1, lambda2 = fits$lambda2, df = fits$df, regions = fits$regions,
    nonzero = fits$nonzero, dev.ratio = fits$dev_ratio, gap = fits$gap, iter = fits$iter,
    converged = fits$converged
  )
  solver <- control[c("standardize", "intercept", "algorithm", "thresh", "maxit", "threads")]
  structure(
    c(fits[intersect(c("a0", "gamma", "beta", "own"), names(fits))],
      list(grid = grid, nulldev = fits$nulldev, npasses = fits$npasses,
           nobs = sum(data$weights > 0), rows = nrow(data$x), dim = dim(fits$beta),
           classnames = data$classnames, family = control$family, sign = control$sign,
           penalty = control$penalty, penalty.factor = data$penalty.factor,
           control = solver, offset = problem$offset, weighted = problem$weighted, call = call,
           graph = data$graph, space = data$space, coding = attr(data$covariates, "coding"),
           deconfound = !is.null(data$controls), scale = kept_scale(data$scaling, data$weights),
           harmonize = kept_harmony(data$harmony, data$map, fits$sites)),
      family_of(control$family)$keep(data, view_link(problem, fits, seq_len(nrow(data$x))))),
    class = "n2gfl"
  )
}

# do.call() puts the function and the data themselves into the call; keep their names instead.
call_without_data <- function(call, caller = "n2gfl") {
  if (is.function(call[[1]])) call[[1]] <- as.name(caller)
  for (name in names(call)[-1]) {
    value <- call[[name]]
    if (inherits(value, "formula")) attributes(call[[name]]) <- NULL  # its environment
    if (!is.language(value) && (is.object(value) || length(value) > 10)) {
      call[[name]] <- as.name(name)
    }
  }
  call
}

warn_not_converged <- function(fits, control) {
  rows <- which(!fits$converged)
  why <- lapply(rows, no_optimum, fits, control$family)
  flawed <- lengths(why) > 0
  if (any(flawed)) {
    warning("Without shrinkage (`lambda1` = 0) there is no optimum, because the features ",
            why[flawed][[1]], ": ", rows_with_gaps(rows[flawed], fits), ". Raise `lambda1`.",
            call. = FALSE)
  }
  rows <- rows[!flawed]
  if (!length(rows)) return(invisible())
  warning(
    length(rows), " of ", length(fits$converged), " fits did not converge to `thresh` = ",
    control$thresh, " within `maxit` = ", control$maxit, " iterations: ",
    rows_with_gaps(rows, fits), ".", call. = FALSE
  )
}

# Why the likelihood of an unpenalised fit has no maximum, or NULL. More iterations do not help
# then.
no_optimum <- function(row, fits, family) {
  if (fits$lambda1[row] > 0) return(NULL)
  family_of(family)$refit_flaw(list(grid = list(dev.ratio = fits$dev_ratio[row])))
}

rows_with_gaps <- function(rows, fits) {
  shown <- utils::head(rows, 10)
  paste0(paste0("row ", shown, " (gap ", format(fits$gap[shown], digits = 2), ")", collapse = ", "),
         if (length(rows) > 10) paste0(" and ", length(rows) - 10, " more, see `grid`"))
}
