# syntax=docker/dockerfile:1
# One image for every mode: topospread and what follows the image's name. docs/how-to/install.md says how to run it.
# The base image is named by digest; the tag beside it is for people. Both stages are the same image.
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
WORKDIR /build
COPY requirements/image.txt ./
RUN python -m venv /opt/topospread \
    && /opt/topospread/bin/pip install --require-hashes --only-binary :all: -r image.txt
# `make release-check` leaves the wheel there: what is in the image is what is released.
COPY build/release/dist/*.whl ./
RUN /opt/topospread/bin/pip install --no-deps --no-index ./*.whl \
    && /opt/topospread/bin/python -m pip uninstall --yes pip \
    && /opt/topospread/bin/python -m compileall -q /opt/topospread/lib

FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
LABEL org.opencontainers.image.title="topospread" \
      org.opencontainers.image.description="Kubernetes topology spread, decided as kube-scheduler decides it, explained" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/topospread /opt/topospread
# Nothing is written: the root file system may be read-only.
ENV PATH=/opt/topospread/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["topospread"]
CMD ["--help"]
