/** Passes news to those who asked for them. */
export interface Told<T> {
  add(listener: (news: T) => void): void;
  /** `news` is made only if somebody listens. */
  tell(news: () => T): void;
  readonly hasListeners: boolean;
}

export function createTold<T>(): Told<T> {
  const listeners: ((news: T) => void)[] = [];
  return {
    add: (listener) => void listeners.push(listener),
    tell(news) {
      if (listeners.length === 0) return;
      const told = news();
      for (const listener of listeners) listener(told);
    },
    get hasListeners() {
      return listeners.length > 0;
    },
  };
}
