import { wordsOf } from '../../../protocol/words-of.ts';
import type { Log } from '../../log.ts';
import {
  isOutputName,
  type OutputPart,
  type OutputRange,
  openOutput,
  readOutput,
  removeOldOutputs,
  takePart,
  toReadLength,
} from '../process/output-files.ts';
import type { StoredOutputs } from './stored-outputs.ts';

/** The long outputs of tools, by the names of their files. */
export interface Outputs {
  /** A part of an output; undefined when no output has this name, or not any more. */
  read(name: string, range: OutputRange): Promise<OutputPart | undefined>;
  open(name: string): Promise<AsyncIterable<Buffer> | undefined>;
  /** Stores a complete output for other machines, once, if there is a place for that. A failure is logged. */
  share(name: string): Promise<void>;
  removeOld(beforeMs: number): Promise<void>;
}

interface OutputsOptions {
  /** The folder of this machine, to which running commands write. */
  folder: string;
  /** Undefined: no other machine needs them. */
  stored: StoredOutputs | undefined;
  log: Log;
}

/** Outputs are read from this machine first, and then from the place for all machines. */
export const createOutputs = ({ folder, stored, log }: OutputsOptions): Outputs => ({
  async read(name, range) {
    const local = await readOutput(folder, name, range);
    if (local !== undefined || !isOutputName(name)) return local;
    const part = await stored?.readPart(name, { offset: range.offset, length: toReadLength(range) });
    return part && { text: takePart(part.bytes, range), totalBytes: part.size };
  },
  async open(name) {
    const local = await openOutput(folder, name);
    if (local || !isOutputName(name)) return local?.createReadStream();
    return (await stored?.open(name))?.createReadStream();
  },
  async share(name) {
    if (stored === undefined) return;
    try {
      if (await stored.readPart(name, { offset: 0, length: 0 })) return;
      await using file = await openOutput(folder, name);
      if (file) await stored.write(name, file.createReadStream({ autoClose: false }));
    } catch (error) {
      log.warn({ output: name, why: wordsOf(error) }, 'an output is only on this machine');
    }
  },
  async removeOld(beforeMs) {
    await removeOldOutputs(folder, beforeMs);
    await stored?.removeOld(beforeMs);
  },
});
