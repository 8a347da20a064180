import { wordsOf } from '../../../protocol/words-of.ts';
import type { Files } from './files.ts';
import type { Chip, Tab } from './tab.ts';

export const isUploading = (chips: readonly Chip[]): boolean =>
  chips.some(({ attachment }) => attachment === undefined);

/** Attaches files to the draft and removes them. If the daemon refuses a file, the tab's `problem` says so. */
export function createChips({ files, newKey }: { files: Pick<Files, 'upload' | 'remove'>; newKey(): string }) {
  /** Aborts running uploads, by the key of their chip. */
  const stops = new Map<string, AbortController>();
  const uploadOne = async (tab: Tab, file: File): Promise<void> => {
    const key = newKey();
    const stop = new AbortController();
    stops.set(key, stop);
    tab.chips.value = [...tab.chips.peek(), { key, name: file.name, attachment: undefined }];
    const isWanted = () => tab.chips.peek().some((chip) => chip.key === key);
    try {
      const attachment = await files.upload(tab.wsId, file, stop.signal);
      // Removed by the person while it was uploaded: delete it from the daemon too.
      if (!isWanted()) await files.remove(tab.wsId, attachment.attachment_id);
      tab.chips.value = tab.chips.peek().map((chip) => (chip.key === key ? { ...chip, attachment } : chip));
    } catch (error) {
      if (!isWanted()) return; // an error of a removed file does not matter
      tab.chips.value = tab.chips.peek().filter((chip) => chip.key !== key);
      tab.problem.value = `${file.name}: ${wordsOf(error)}`;
    } finally {
      stops.delete(key);
    }
  };
  return {
    async attach(tab: Tab, chosen: readonly File[]): Promise<void> {
      tab.problem.value = undefined;
      await Promise.all(chosen.map((file) => uploadOne(tab, file)));
    },

    async detach(tab: Tab, { key, attachment }: Chip): Promise<void> {
      tab.chips.value = tab.chips.peek().filter((chip) => chip.key !== key);
      stops.get(key)?.abort();
      if (attachment) await files.remove(tab.wsId, attachment.attachment_id).catch(() => undefined); // it expires anyway
    },
  };
}

export type ChipActions = ReturnType<typeof createChips>;
