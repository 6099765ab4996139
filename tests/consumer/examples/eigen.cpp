// Eigen's matrices where they lie: they are column-major, which their strides say.
#include <axisloom/axisloom.hpp>

#include <Eigen/Core>

namespace {

template <class Matrix>
axisloom::OutputArray array_of(Matrix& matrix) {
  return {axisloom::dtype_v<typename Matrix::Scalar>,
          matrix.data(),
          {matrix.rows(), matrix.cols()},
          {matrix.rowStride(), matrix.colStride()}};
}

}  // namespace

int main() {
  Eigen::MatrixXf a = Eigen::MatrixXf::Random(5, 7), b = Eigen::MatrixXf::Random(7, 3), c(5, 3);
  axisloom::run_into(array_of(c), axisloom::matmul(), {array_of(a), array_of(b)});
  if (!c.isApprox(a * b)) return 1;
  auto block = a.block(1, 2, 3, 4);  // strides of the whole
  const axisloom::Array sums = axisloom::sum(array_of(block), {.axes = {0}});
  const Eigen::Map<const Eigen::RowVectorXf> columns(sums.elements<float>().data(), 4);
  return columns.isApprox(block.colwise().sum()) ? 0 : 1;
}
