# A BPF object is compiled once, for every kernel since 4.9, and embedded by its skeleton; its source is embedded for
# --ebpf. -mcpu=v1: old verifiers do not know later instruction sets.
BPF_CFLAGS = -target bpf -D__TARGET_ARCH_x86 -mcpu=v1 -O2 -g -Wall -Wextra -Werror \
	      $(addprefix -isystem ,$(wildcard /usr/include/$(shell uname -m)-linux-gnu))

$(O)/bpf/%.bpf.o: bpf/%.bpf.c bpf/shared.h bpf/layout.h
	$(say) CLANG $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -I. -c -o $@ $<

$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

.SECONDARY: $(O)/bpf/profile.bpf.o $(O)/bpf/offcpu.bpf.o $(O)/bpf/names.bpf.o
