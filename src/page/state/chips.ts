import { wordsOf } from '../../../protocol/words-of.ts';
import type { Files } from './files.ts';
import type { Chip, Tab } from './tab.ts';

export const isUploading = (chips: readonly Chip[]): boolean =>
  chips.some(({ attachment }) => attachment === undefined);

/** Files put beside the message, and taken away again. What the daemon refuses becomes the tab's `problem`. */
export function createChips({ files, newKey }: { files: Files; newKey(): string }) {
  /** Of the uploads that go on, by the key of their chip. */
  const stops = new Map<string, AbortController>();
  const uploadOne = async (tab: Tab, file: File): Promise<void> => {
    const key = newKey();
    const stop = new AbortController();
    stops.set(key, stop);
    tab.chips.value = [...tab.chips.peek(), { key, name: file.name, attachment: undefined }];
    const isWanted = () => tab.chips.peek().some((chip) => chip.key === key);
    try {
      const attachment = await files.upload(tab.wsId, file, stop.signal);
      // Taken away when it had just arrived: then the daemon need not keep it either.
      if (!isWanted()) await files.remove(tab.wsId, attachment.attachment_id);
      tab.chips.value = tab.chips.peek().map((chip) => (chip.key === key ? { ...chip, attachment } : chip));
    } catch (error) {
      if (!isWanted()) return; // what becomes of it is nobody's concern any more
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
      if (attachment) await files.remove(tab.wsId, attachment.attachment_id).catch(() => undefined); // it expires by itself
    },
  };
}

export type ChipActions = ReturnType<typeof createChips>;
