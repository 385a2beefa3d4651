// Clouds of points by the id of their run. They come through a mount of their own, so that a run in
// progress need not send them again and again.

const clouds = () => (window.rhmmClouds ??= new Map());
