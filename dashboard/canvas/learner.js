// What the methods believe, drawn on the disk: the online learner at a moment, EM's way, K-means.

/** The estimated means, their trails and circles, and what the learner holds. */
function drawLearner(g, colours, disk, run, position, options) {
  const ratio = window.devicePixelRatio || 1, n = run.truth.means.length;
  const frame = Math.floor(position), next = Math.min(frame + 1, run.steps.length - 1);
  const share = position - frame, known = run.steps.length > 0;
  if (options.held && known) drawHeld(g, disk, run, run.steps[frame]);
  if (options.em && run.em) drawEm(g, colours, disk, run);
  if (options.kmeans && run.kmeans) drawKmeans(g, colours, disk, run);
  if (!known) return; // the others may have something to show all the same
  for (let i = 0; i < n; i++) {
    const colour = run.truth.colours[i];
    const mean = (f) => [run.means[2 * (f * n + i)], run.means[2 * (f * n + i) + 1]];
    if (options.trails) {
      for (const [stroke, width] of [[colours.back, 4.5], [colour, 2.5]]) {
        g.strokeStyle = stroke;
        g.lineWidth = width * ratio;
        g.lineJoin = "round";
        g.beginPath();
        for (let f = 0; f <= frame; f++) g.lineTo(...disk.toScreen(...mean(f)));
        g.stroke();
      }
    }
    const [ax, ay] = mean(frame), [bx, by] = mean(next);
    const x = ax + share * (bx - ax), y = ay + share * (by - ay);
    if (options.circles) {
      const before = run.sigmas[frame * n + i], after = run.sigmas[next * n + i];
      disk.circle(g, x, y, before + share * (after - before));
      g.strokeStyle = colour;
      g.lineWidth = 2.2 * ratio;
      g.stroke();
    }
    drawMark(g, colours, i, colour, ...disk.toScreen(x, y), 6 * ratio, 3);
  }
}

/** The observations that the learner holds after so many steps. */
function drawHeld(g, disk, run, step) {
  const { cloud } = disk;
  if (!cloud) return;
  const first = Math.max(0, Math.ceil((step - run.held) / cloud.stride));
  const last = Math.min(cloud.states.length, Math.ceil(step / cloud.stride));
  const size = (run.held < 20 ? 4 : 2.6) * (window.devicePixelRatio || 1);
  disk.drawPoints(g, first, last, size, 1);
}

/** A dot for each iterate of EM, a circled E for the last. */
function drawEm(g, colours, disk, { em, truth }) {
  const ratio = window.devicePixelRatio || 1, n = truth.means.length, count = em.means.length / (2 * n);
  for (let i = 0; i < n; i++) {
    const at = (f) => disk.toScreen(em.means[2 * (f * n + i)], em.means[2 * (f * n + i) + 1]);
    g.strokeStyle = colours.text;
    g.lineWidth = 1.5 * ratio;
    g.beginPath();
    for (let f = 0; f < count; f++) g.lineTo(...at(f));
    g.stroke();
    for (let f = 0; f < count; f++) {
      const isLast = f === count - 1;
      g.fillStyle = isLast ? colours.back : colours.text;
      g.beginPath();
      g.arc(...at(f), (isLast ? 7 : 3) * ratio, 0, 2 * Math.PI);
      g.fill();
      g.stroke();
    }
    drawLetter(g, colours, "E", ...at(count - 1));
  }
}

/** A K in a square for each centre. */
function drawKmeans(g, colours, disk, { kmeans, truth }) {
  const ratio = window.devicePixelRatio || 1, side = 7 * ratio;
  truth.means.forEach((_, i) => {
    const [x, y] = disk.toScreen(kmeans.means[2 * i], kmeans.means[2 * i + 1]);
    g.fillStyle = colours.back;
    g.strokeStyle = colours.text;
    g.lineWidth = 1.5 * ratio;
    g.fillRect(x - side, y - side, 2 * side, 2 * side);
    g.strokeRect(x - side, y - side, 2 * side, 2 * side);
    drawLetter(g, colours, "K", x, y);
  });
}

function drawLetter(g, colours, letter, x, y) {
  g.font = `700 ${10 * (window.devicePixelRatio || 1)}px ${colours.family}`;
  g.fillStyle = colours.text;
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillText(letter, x, y);
}
