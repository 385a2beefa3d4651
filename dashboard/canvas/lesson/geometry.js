// Geometry of the disk that a drag needs at once. Points are [x, y] with x² + y² < 1, curvature −1.
// Everything else that pictures of the lesson show comes from the engine.

import { keptInside, recentred } from "../charts/disk.js";

/** @typedef {[number, number]} Point */

/** A symmetric 2 × 2 matrix of determinant one, [[a, b], [b, c]]. @typedef {{ a: number, b: number, c: number }} Matrix */

const MOST_STEPS = 1000; // of the search for a centre of mass
const NEAR = 1e-14;

/** @param {Point} point */
const gap = ([x, y]) => (1 - Math.hypot(x, y)) * (1 + Math.hypot(x, y));

/**
 * The distance of two points: eq. (18) of the paper, in a form that loses no digits where they are close.
 * @param {Point} x
 * @param {Point} z
 */
export function distance(x, z) {
  const apart = Math.hypot(x[0] - z[0], x[1] - z[1]);
  return 2 * Math.asinh(apart / Math.sqrt(gap(x) * gap(z)));
}

/**
 * x #_τ z: the point on the geodesic from x to z that is τ d(x, z) away from x.
 * @param {Point} x
 * @param {Point} z
 * @param {number} tau
 * @returns {Point}
 */
export function geodesicPoint(x, z, tau) {
  const [u, v] = recentred(...z, ...x); // from the middle geodesics are straight
  const length = Math.hypot(u, v);
  const reach = length ? Math.tanh(tau * Math.atanh(length)) / length : 0;
  return recentred(u * reach, v * reach, -x[0], -x[1]);
}

/**
 * Points on the geodesic from x to z, both ends among them.
 * @param {Point} x
 * @param {Point} z
 * @returns {Point[]}
 */
export function geodesic(x, z, pieces = 64) {
  return Array.from({ length: pieces + 1 }, (_, i) => geodesicPoint(x, z, i / pieces));
}

/**
 * The point with the least sum of squared distances.
 *
 * Each step goes along the mean of the directions to the points, divided by the mean curvature d coth d of the
 * squared distances: with far points the whole way would be too long.
 * @param {Point[]} points
 * @returns {Point}
 */
export function centreOfMass(points) {
  let centre = naiveAverage(points);
  for (let step = 0; step < MOST_STEPS; step++) {
    let [u, v, curvature] = [0, 0, 0];
    for (const [x, y] of points) {
      const [a, b] = recentred(x, y, ...centre), length = Math.hypot(a, b), d = 2 * Math.atanh(length);
      u += length ? (a / length) * d : 0;
      v += length ? (b / length) * d : 0;
      curvature += d > 1e-6 ? d / Math.tanh(d) : 1;
    }
    const way = Math.hypot(u, v) / curvature;
    if (way < NEAR) break;
    const reach = Math.tanh(way / 2) / (way * curvature);
    centre = recentred(u * reach, v * reach, -centre[0], -centre[1]);
  }
  return centre;
}

/**
 * The average of the coordinates, which knows nothing of the geometry.
 * @param {Point[]} points
 * @returns {Point}
 */
export function naiveAverage(points) {
  const sum = points.reduce(([u, v], [x, y]) => [u + x, v + y], [0, 0]);
  return [sum[0] / points.length, sum[1] / points.length];
}

/**
 * The matrix that a point of the disk stands for. The middle is the identity.
 * @param {Point} point
 * @returns {Matrix}
 */
export function toMatrix(point) {
  const [x, y] = point, inside = gap(point), half = (1 + x * x + y * y) / inside;
  return { a: half + (2 * x) / inside, b: (2 * y) / inside, c: half - (2 * x) / inside };
}

/**
 * The inverse of `toMatrix`.
 * @param {Matrix} matrix
 * @returns {Point}
 */
export function fromMatrix({ a, b, c }) {
  const below = a + c + 2;
  return [(a - c) / below, (2 * b) / below];
}

/**
 * The affine-invariant distance of two such matrices, eq. (2) of the paper: √2 times that of their points.
 * @param {Matrix} p
 * @param {Matrix} q
 */
export function matrixDistance(p, q) {
  const gapOfDeterminant = (p.b - q.b) ** 2 - (p.a - q.a) * (p.c - q.c);
  return Math.SQRT2 * 2 * Math.asinh(Math.sqrt(Math.max(0, gapOfDeterminant)) / 2);
}

/**
 * The ellipse of the vectors v with vᵀ P⁻¹ v = 1, where P is the matrix of this point. Its area is always π.
 * @param {Point} point
 * @returns {{ rx: number, ry: number, angle: number }}
 */
export function ellipseOf(point) {
  const stretch = Math.exp(distance([0, 0], point) / 2);
  return { rx: stretch, ry: 1 / stretch, angle: Math.atan2(point[1], point[0]) / 2 };
}

/**
 * As far out as a handle may go.
 * @param {Point} point
 * @returns {Point}
 */
export const withinReach = ([x, y]) => keptInside(x, y, 0.995);
