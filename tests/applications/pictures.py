"""Filters of OpenCV's transparent API, which generates programs for types and sizes."""

import cv2
import numpy

cv2.ocl.setUseOpenCL(True)
pixels = numpy.arange(97 * 61 * 3, dtype=numpy.uint32).astype(numpy.uint8).reshape(61, 97, 3)
grey = cv2.cvtColor(cv2.UMat(pixels), cv2.COLOR_BGR2GRAY)
blurred = cv2.GaussianBlur(grey, (5, 5), 1.2)
threshold, white = cv2.threshold(blurred, 100, 255, cv2.THRESH_BINARY)
print("OpenCL", cv2.ocl.useOpenCL())
for name, picture in (("grey", grey), ("blurred", blurred), ("white", white)):
    print(name, picture.get().shape, int(picture.get().astype(numpy.int64).sum()))
