/** The preview of one run, while its text is followed. */
interface OpenPreview extends Disposable {
  /** Does the work unless the answer is on its way; undefined: it is. The work must not reject. */
  show<T>(work: () => Promise<T>): Promise<T | undefined>;
  readonly isOver: boolean;
}

/** Keeps the edits of a preview from arriving after the answer that takes its place. */
export class PreviewGate {
  readonly #open = new Map<string, { isOver: boolean; underWay: Promise<unknown> }>();

  open(runId: string): OpenPreview {
    const state: { isOver: boolean; underWay: Promise<unknown> } = { isOver: false, underWay: Promise.resolve() };
    this.#open.set(runId, state);
    return {
      async show(work) {
        if (state.isOver) return undefined;
        const working = work();
        state.underWay = working;
        return await working;
      },
      get isOver() {
        return state.isOver;
      },
      [Symbol.dispose]: () => {
        if (this.#open.get(runId) === state) this.#open.delete(runId);
      },
    };
  }

  /** No request for the preview begins from now on; resolves when the last one has ended. */
  async close(runId: string): Promise<void> {
    const state = this.#open.get(runId);
    if (state === undefined) return;
    state.isOver = true;
    await state.underWay;
  }
}
