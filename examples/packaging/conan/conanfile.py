from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get
from conan.tools.gnu import PkgConfigDeps


class OclccRecipe(ConanFile):
    name = "oclcc"
    version = "@VERSION@"
    description = "Loader of OpenCL kernel bundles, and the command that compiles them"
    license = "Apache-2.0"
    package_type = "shared-library"
    settings = "os", "compiler", "build_type", "arch"

    def configure(self):
        self.options["zstd"].shared = True  # the target that the project links

    def requirements(self):
        self.requires("cxxopts/[>=3]", visible=False)
        self.requires("fmt/[>=9]", visible=False)
        self.requires("libsodium/[>=1.0.18]", visible=False)
        self.requires("lz4/[>=1.9]", visible=False)
        self.requires("nlohmann_json/[>=3.11]", visible=False)
        self.requires("opencl-headers/[>=2022]")
        self.requires("tl-expected/[>=1]", visible=False)
        self.requires("zlib/[>=1.2.13]", visible=False)
        self.requires("zstd/[>=1.5]", visible=False)

    def layout(self):
        cmake_layout(self)

    def source(self):
        get(self, "@URL@", sha256="@SHA256@", strip_root=True)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.cache_variables |= {
            "BUILD_TESTING": False,
            "CLBIN_STORAGE_HTTP": False,
            "CMAKE_SKIP_INSTALL_ALL_DEPENDENCY": True,
            "CMAKE_UNITY_BUILD": True,
        }
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        for target in ("oclcc", "clbin_shared", "clbin_static", "clbin_layer"):
            cmake.build(target=target)

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")

    def package_info(self):
        # find_package(clbin) finds the project's own package, with clbin_add_kernels().
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/clbin"]
        self.cpp_info.set_property("pkg_config_name", "clbin")
        self.cpp_info.libs = ["clbin"]
