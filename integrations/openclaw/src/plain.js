// What the host hands over, as plain JSON: Sets become arrays, Maps become
// objects, functions, symbols and signals are left out.

/** Whether a value is an AbortSignal, of this realm or another. */
function isSignal(value) {
  return typeof value.aborted === "boolean" && typeof value.addEventListener === "function";
}

/** The replacer for JSON.stringify that makes host values plain. */
export function plainly(_key, value) {
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Set) return [...value];
  if (value instanceof Map) return Object.fromEntries(value);
  if (isSignal(value)) return undefined;
  return value;
}

/**
 * One line of JSON. A circle cannot be sent: whatever forms it is left out,
 * because a host's runtime objects may hold references to themselves.
 */
export function line(message) {
  try {
    return JSON.stringify(message, plainly);
  } catch {
    const above = [];
    return JSON.stringify(message, function (key, value) {
      const plain = plainly(key, value);
      if (typeof plain !== "object" || plain === null) return plain;
      while (above.length > 0 && above.at(-1) !== this) above.pop();
      if (above.includes(plain)) return undefined;
      above.push(plain);
      return plain;
    });
  }
}
