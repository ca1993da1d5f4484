class Oclcc < Formula
  desc "Compiler of OpenCL kernels into bundles, and their loader"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "cxxopts" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "opencl-headers" => :build
  depends_on "pkgconf" => :build
  depends_on "tl-expected" => :build
  depends_on "curl"
  depends_on "fmt"
  depends_on "libsodium"
  depends_on :linux
  depends_on "lz4"
  depends_on "opencl-icd-loader" # opened at run time
  depends_on "zlib"
  depends_on "zstd"
  uses_from_macos "python" => :build

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DBUILD_TESTING=OFF",
           "-DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON", "-DCMAKE_UNITY_BUILD=ON", *std_cmake_args
    system "cmake", "--build", "build", "--target", "oclcc", "clbin_shared", "clbin_static", "clbin_layer"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"version.c").write <<~C
      #include <clbin/clbin.h>
      int main(void) { return clbin_version() == CLBIN_VERSION_NUMBER ? 0 : 1; }
    C
    system ENV.cc, "version.c", "-I#{include}", "-L#{lib}", "-lclbin", "-o", "version"
    system "./version"
    assert_match version.to_s, shell_output("#{bin}/oclcc --version")
  end
end
