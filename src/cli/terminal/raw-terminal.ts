import { EventEmitter } from 'node:events';
import { createInterface, emitKeypressEvents, type Key } from 'node:readline';
import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import type { Job } from './job.ts';

export interface RawTerminal {
  /** Restores the terminal. Idempotent. */
  leave(): void;
}

interface Stopping {
  job: Job;
  /** Called before the job stops: other programs write to the terminal then. */
  onStop(): void;
  /** Called when the job goes on. */
  onContinue(): void;
}

interface RawTerminalOptions {
  input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;
  write(text: string): void;
  onKey(text: string | undefined, key: Key): void;
  /** Called once with the whole pasted text. */
  onPaste(text: string): void;
  /** What Ctrl-Z stops. Absent: it is a key like any other. */
  stopping?: Stopping;
  /** Takes out what the terminal sends by itself. */
  filter?: ((input: string) => string) | undefined;
}

/** How long a lone Escape may be the beginning of a longer sequence. Node waits 500 ms, which a person notices. */
const ESCAPE_MS = 80;

const [PASTES_MARKED, PASTES_PLAIN] = ['\x1b[?2004h', '\x1b[?2004l'];

/** Delivers every key as it is pressed. A paste arrives in one piece, so that none of its lines is sent automatically. */
export function enterRawTerminal({ input, write, onKey, onPaste, filter, stopping }: RawTerminalOptions): RawTerminal {
  let pasted: string[] | undefined;
  const onKeypress = (text: string | undefined, key: Key) => {
    if (key.name === 'paste-start') pasted = [];
    else if (key.name === 'paste-end') {
      const whole = pasted?.join('') ?? '';
      pasted = undefined;
      onPaste(whole);
    } else if (pasted) pasted.push(text ?? '');
    else if (stopping && key.ctrl === true && key.name === 'z') stop(stopping);
    else onKey(text, key);
  };
  const keys = readKeys({ input, filter, onKeypress });
  const enter = () => {
    input.setRawMode(true);
    write(PASTES_MARKED);
  };
  const goOn = () => {
    input.setRawMode(false); // the shell has changed the mode, which Node does not know
    enter();
    stopping?.onContinue();
  };
  const stop = ({ job, onStop }: Stopping) => {
    onStop();
    write(PASTES_PLAIN);
    input.setRawMode(false);
    job.stop();
    goOn();
  };
  const unlisten = stopping?.job.onContinue(goOn);
  enter();
  input.resume();
  let state: 'raw' | 'left' = 'raw';
  return {
    leave() {
      if (state === 'left') return;
      state = 'left';
      unlisten?.();
      keys.close();
      input.setRawMode(false);
      input.pause();
      write(PASTES_PLAIN);
    },
  };
}

interface KeyReader extends Pick<RawTerminalOptions, 'input' | 'filter'> {
  onKeypress(text: string | undefined, key: Key): void;
}

/** Tells the keys of a terminal without what it sends by itself. */
function readKeys({ input, filter, onKeypress }: KeyReader): { close(): void } {
  const keypresses = createInterface({ input: new PassThrough(), escapeCodeTimeout: ESCAPE_MS });
  // The type requires a full stream, but only data events and the count of their listeners are used.
  const typed = new EventEmitter() as ReadStream;
  emitKeypressEvents(typed, keypresses);
  typed.on('keypress', onKeypress);
  const decoder = new StringDecoder();
  const onData = (bytes: Buffer) => {
    const read = decoder.write(bytes);
    const text = filter ? filter(read) : read;
    if (text !== '') typed.emit('data', text);
  };
  input.on('data', onData);
  return {
    close() {
      input.off('data', onData);
      keypresses.close();
    },
  };
}
