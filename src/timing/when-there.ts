/**
 * Like `then`, but calls `next` at once if the value is not a promise: awaiting one would cost as much as a small call.
 */
export function whenThere<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
