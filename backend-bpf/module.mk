LIB_SRCS += backend-bpf/bpf.c backend-bpf/map_sizes.c backend-bpf/namer.c backend-bpf/object.c \
	    backend-bpf/object_maps.c backend-bpf/offcpu.c backend-bpf/offsets.c backend-bpf/proved.c backend-bpf/source.c \
	    backend-bpf/first_samples.c
LIBS += $(shell $(PKG_CONFIG) --libs libbpf)

$(O)/backend-bpf/bpf.o: $(O)/bpf/profile.skel.h
$(O)/backend-bpf/namer.o: $(O)/bpf/names.skel.h
$(O)/backend-bpf/offcpu.o: $(O)/bpf/offcpu.skel.h
$(O)/backend-bpf/source.o: bpf/profile.bpf.c bpf/offcpu.bpf.c bpf/shared.h bpf/layout.h
