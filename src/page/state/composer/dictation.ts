import { type ReadonlySignal, signal } from '@preact/signals';

/** What a browser heard: each result has its likeliest text first. */
interface Heard {
  resultIndex: number;
  results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }>;
}

/** The part of a browser's speech recognition that is used here. */
export interface Recognition {
  continuous: boolean;
  interimResults: boolean;
  lang: string;
  onresult: ((event: Heard) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}

interface Port {
  create(): Recognition;
  language: string;
  /** Called with each piece of text that will not change any more. */
  onText(text: string): void;
  onProblem(problem: string): void;
}

/** Turns speech into text while it is on. */
export class Dictation {
  readonly #port: Port;
  readonly #isOn = signal(false);
  #running: Recognition | undefined;

  constructor(port: Port) {
    this.#port = port;
  }

  get isOn(): ReadonlySignal<boolean> {
    return this.#isOn;
  }

  toggle(): void {
    if (this.#running)
      this.#running.stop(); // what was said before still arrives
    else this.#start();
  }

  /** The field is gone: nothing that is heard from now on counts. */
  dispose(): void {
    const running = this.#running;
    this.#end();
    if (!running) return;
    running.onresult = null;
    running.abort();
  }

  #start(): void {
    const { create, language, onText, onProblem } = this.#port;
    const recognition = create();
    Object.assign(recognition, { continuous: true, interimResults: false, lang: language });
    recognition.onresult = ({ resultIndex, results }) => {
      for (const result of Array.from(results).slice(resultIndex)) {
        const text = result[0]?.transcript.trim() ?? '';
        if (result.isFinal && text !== '') onText(text);
      }
    };
    recognition.onerror = ({ error }) => {
      const problem = PROBLEMS[error];
      if (problem !== undefined) onProblem(problem);
    };
    recognition.onend = () => this.#end();
    this.#running = recognition;
    this.#isOn.value = true;
    recognition.start();
  }

  #end(): void {
    this.#running = undefined;
    this.#isOn.value = false;
  }
}

/** Others are no problem: nothing was said, or the person has stopped it. */
const PROBLEMS: Record<string, string> = {
  'not-allowed': 'The browser does not allow the page to use the microphone.',
  'service-not-allowed': 'The browser does not allow speech recognition.',
  'audio-capture': 'There is no microphone.',
  network: 'The speech recognition of the browser cannot be reached.',
  'language-not-supported': 'The browser does not recognise speech in its language.',
};

/** Adds a piece of speech to a text. */
export const withSpoken = (draft: string, text: string): string =>
  draft === '' || /\s$/.test(draft) ? draft + text : `${draft} ${text}`;
