// The Poincaré disk: points are [x, y] pairs of the open unit disk, curvature −1.

/** The isometry that brings `a` to the centre: z ↦ (z − a) / (1 − ā z). */
function recentred(x, y, ax, ay) {
  const nx = x - ax, ny = y - ay;
  const dx = 1 - (ax * x + ay * y), dy = ay * x - ax * y;
  const size = dx * dx + dy * dy;
  return [(nx * dx + ny * dy) / size, (ny * dx - nx * dy) / size];
}

/** The Euclidean circle that is the geodesic circle of this radius around (x, y). */
function geodesicCircle(x, y, radius) {
  const t = Math.tanh(radius / 2), square = x * x + y * y;
  const shrink = 1 - t * t * square;
  const r = Math.max(0, (t * (1 - square)) / shrink); // a point at the rim may be rounded to beyond it
  return { x: (x * (1 - t * t)) / shrink, y: (y * (1 - t * t)) / shrink, r };
}

/** The point itself, or the nearest one of length `most` on its ray. */
function keptInside(x, y, most) {
  const length = Math.hypot(x, y);
  return length <= most ? [x, y] : [(x * most) / length, (y * most) / length];
}
