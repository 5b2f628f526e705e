// The calls of NVRTC that the CUDA driver of anabranch-kernel makes. A C++ compiler of the host compiles.
//
// An image is a line: what it is compiled for, and the shared library with the kernels. Libraries stay in the folder
// `kernels` beside this library, where the next program with the same text finds them.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_INPUT = 3, COMPILATION = 6 };

struct Program {
    std::string text, log, target, image;
    bool is_cubin() { return target.rfind("sm", 0) == 0; }
};

static std::string folder() {
    Dl_info info;
    dladdr((void *)&folder, &info);
    std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/'));
}

static std::string read(const std::string &path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

extern "C" {

int nvrtcVersion(int *major, int *minor) { *major = 13, *minor = 0; return SUCCESS; }

int nvrtcGetNumSupportedArchs(int *count) { *count = 3; return SUCCESS; }
int nvrtcGetSupportedArchs(int *archs) { archs[0] = 75, archs[1] = 80, archs[2] = 90; return SUCCESS; }

const char *nvrtcGetErrorString(int) { return "an error of the simulated NVRTC"; }

int nvrtcCreateProgram(Program **program, const char *text, const char *, int, const char **, const char **) {
    *program = new Program{text};
    return SUCCESS;
}

int nvrtcDestroyProgram(Program **program) {
    delete *program;
    *program = nullptr;
    return SUCCESS;
}

int nvrtcCompileProgram(Program *program, int count, const char **options) {
    std::string flags;
    bool contracts = true;
    for (int i = 0; i < count; i++) {
        std::string option = options[i], architecture = "--gpu-architecture=";
        if (option.rfind(architecture, 0) == 0) program->target = option.substr(architecture.size());
        else if (option == "--fmad=false") contracts = false;
        else if (option == "--std=c++17") flags += " -std=c++17";
        else { program->log = "unknown option " + option; return COMPILATION; }
    }
    std::string text = program->text + "\n";
    for (int entry = 0; text.find("entry" + std::to_string(entry) + "(") != std::string::npos; entry++) {
        std::string name = "entry" + std::to_string(entry);
        text += "extern \"C\" Call *bind_" + name + "(void **args) { return bind(" + name + ", args); }\n";
    }
    if (contracts) { program->log = "--fmad=false is missing"; return COMPILATION; }
    bool has_barriers = text.find("__syncthreads") != std::string::npos;
    text += "extern \"C\" { extern const bool has_barriers = " + std::to_string(has_barriers) + "; }\n";
    flags += " -ffp-contract=off -O1 -fPIC -shared -fno-strict-aliasing -w -include '" + folder() + "/lanes.hpp'";
    std::string path = folder() + "/kernels/" + std::to_string(std::hash<std::string>()(flags + text));
    if (access((path + ".so").c_str(), F_OK) != 0) {
        std::string own = path + "." + std::to_string(getpid()) + "." + std::to_string((unsigned long)program);
        std::ofstream(own + ".cpp") << text;
        std::string command = "c++" + flags + " '" + own + ".cpp' -o '" + own + ".so' 2>'" + own + ".log'";
        bool compiles = system(command.c_str()) == 0;
        program->log = read(own + ".log");
        if (compiles) rename((own + ".so").c_str(), (path + ".so").c_str());
        for (const char *end : {".cpp", ".so", ".log"}) unlink((own + end).c_str());
        if (!compiles) return COMPILATION;
    }
    program->image = program->target + " " + path + ".so";
    return SUCCESS;
}

static int copy(const std::string &text, char *to) { memcpy(to, text.c_str(), text.size() + 1); return SUCCESS; }

int nvrtcGetProgramLogSize(Program *program, size_t *size) { *size = program->log.size() + 1; return SUCCESS; }
int nvrtcGetProgramLog(Program *program, char *log) { return copy(program->log, log); }
int nvrtcGetCUBINSize(Program *program, size_t *size) {
    *size = program->is_cubin() ? program->image.size() + 1 : 0;
    return SUCCESS;
}
int nvrtcGetCUBIN(Program *program, char *image) {
    return program->is_cubin() ? copy(program->image, image) : INVALID_INPUT;
}
int nvrtcGetPTXSize(Program *program, size_t *size) { *size = program->image.size() + 1; return SUCCESS; }
int nvrtcGetPTX(Program *program, char *image) { return copy(program->image, image); }

}
