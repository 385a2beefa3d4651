// Paces of an endless stream: on the slider, on the curves, in words. All of it is arithmetic.

const SECONDS = 15; // of the stream at its pace that the curves show, about
export const LEAST_SPAN = 2000; // observations that they show at least

/** The pace at a place of its slider: two digits, from 10 to 100,000. @param {number} place */
export function paceOf(place) {
  const pace = 10 ** (1 + place / 100), unit = 10 ** (Math.floor(Math.log10(pace) + 1e-9) - 1);
  return Math.round(pace / unit) * unit;
}

/** The place of a pace on its slider. @param {number} pace */
export function placeOf(pace) {
  return 5 * Math.round(20 * (Math.log10(pace) - 1));
}

/** How many observations the curves show at a pace: 1, 2 or 5 times a power of ten. @param {number} pace */
export function spanOf(pace) {
  const wanted = Math.max(LEAST_SPAN, SECONDS * pace), unit = 10 ** Math.floor(Math.log10(wanted));
  return unit * [1, 2, 5].reduce((best, digit) => (digit * unit <= wanted ? digit : best), 1);
}

/** What follows a number that counts: 2nd, 3rd. @param {number} number */
export function ordinal(number) {
  const last = number % 10, teen = Math.floor((number % 100) / 10) === 1;
  return teen ? "th" : last === 1 ? "st" : last === 2 ? "nd" : last === 3 ? "rd" : "th";
}
