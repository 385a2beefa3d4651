// Numbers as people read them.

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** @param {number} number */
export const subscript = (number) => String(number).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]);

/** With a comma between thousands. @param {number} number */
export const grouped = (number) => number.toLocaleString("en-US");

/** The name of the mean of a state: c₁ for state 0. @param {number} state */
export const meanName = (state) => `c${subscript(state + 1)}`;
