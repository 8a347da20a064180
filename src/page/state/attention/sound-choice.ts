import { type ReadonlySignal, signal } from '@preact/signals';

const MEMORY_KEY = 'headgate.sound';

/** Whether this browser plays a sound when something begins to wait. Off until somebody chooses it. */
export class SoundChoice {
  readonly #memory: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #isOn = signal(false);

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#memory = memory;
    this.#isOn.value = memory.getItem(MEMORY_KEY) === 'on';
  }

  get isOn(): ReadonlySignal<boolean> {
    return this.#isOn;
  }

  set(isOn: boolean): void {
    this.#memory.setItem(MEMORY_KEY, isOn ? 'on' : 'off');
    this.#isOn.value = isOn;
  }
}
