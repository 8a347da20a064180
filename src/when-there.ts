/**
 * Goes on with a value: at once where it is there, since a promise costs as much as a small call, and when it comes
 * otherwise.
 */
export function whenThere<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
