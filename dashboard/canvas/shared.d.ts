// The types of the module that dashboard/canvas/shared.py writes.

/** How a state looks. */
export interface Mark {
  colour: string;
  /** 0 is a circle. */
  corners: number;
  /** Where the first corner is, in quarter turns from the right, clockwise. */
  turn: number;
  /** The corners' distance from the centre, for a circle of radius 1. */
  outer: number;
  /** The distance of the corners between, if it is a star. */
  inner: number | null;
}

export const MARKS: Mark[];
export const SWITCHES: string[];
export const MOST_ZOOM: number;
export const MARKUP: { lab: string; sketch: string; stream: string; lesson: string };
