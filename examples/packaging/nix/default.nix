{ lib, stdenv, fetchurl, cmake, ninja, pkg-config, python3, cxxopts, curl, fmt, libsodium, lz4, nlohmann_json
, ocl-icd, opencl-headers, tl-expected, zlib, zstd }:

stdenv.mkDerivation {
  pname = "oclcc";
  version = "@VERSION@";
  src = fetchurl {
    url = "@URL@";
    sha256 = "@SHA256@";
  };

  nativeBuildInputs = [ cmake ninja pkg-config python3 ];
  buildInputs = [ cxxopts curl fmt libsodium lz4 nlohmann_json opencl-headers tl-expected zlib zstd ];
  cmakeFlags = [
    "-DBUILD_TESTING=OFF"
    "-DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON"
    "-DCMAKE_UNITY_BUILD=ON"
    # clbin.pc and oclcc need folders relative to the prefix.
    "-DCMAKE_INSTALL_BINDIR=bin"
    "-DCMAKE_INSTALL_INCLUDEDIR=include"
    "-DCMAKE_INSTALL_LIBDIR=lib"
  ];
  ninjaFlags = [ "oclcc" "clbin_shared" "clbin_static" "clbin_layer" ];
  # They open the ICD loader at run time.
  postFixup = ''
    patchelf --add-rpath ${lib.makeLibraryPath [ ocl-icd ]} $out/bin/oclcc $out/lib/libclbin.so.1
  '';

  meta = {
    description = "Compiler of OpenCL kernels into bundles, and their loader";
    license = lib.licenses.asl20;
    mainProgram = "oclcc";
    platforms = lib.platforms.linux;
  };
}
