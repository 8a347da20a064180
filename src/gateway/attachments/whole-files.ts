import type { Attachment } from '../../../protocol/stream-events.ts';
import type { Log } from '../../log.ts';
import type { AttachmentFiles, OpenedFile } from './attachment-files.ts';

export interface WholeFiles {
  /** The caller closes it. */
  open(attachment: Attachment): Promise<OpenedFile | undefined>;
  read(attachment: Attachment): Promise<Buffer | undefined>;
  sort(attachments: Attachment[]): Promise<Record<'whole' | 'damaged', Attachment[]>>;
}

/**
 * Opens files whose size matches what was stored. Other files, and those that cannot be read, count as missing; the log
 * has the reason, and the conversation continues.
 */
export function createWholeFiles({ files, log }: { files: Pick<AttachmentFiles, 'open'>; log: Log }): WholeFiles {
  const orAbsent = async <T>(id: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (err) {
      log.warn({ err, attachment: id }, 'the file of an attachment cannot be read');
      return undefined;
    }
  };
  const open = ({ attachment_id: id, size_bytes }: Attachment) =>
    orAbsent(id, async () => {
      const file = await files.open(id, size_bytes);
      if (!file) log.warn({ attachment: id }, 'the file of an attachment is gone or damaged');
      return file;
    });
  return {
    open,
    async read(attachment) {
      await using file = await open(attachment);
      return file && orAbsent(attachment.attachment_id, () => file.readFile());
    },
    async sort(attachments) {
      const states = await Promise.all(
        attachments.map(async (attachment) => {
          await using file = await open(attachment);
          return file ? 'whole' : 'damaged';
        }),
      );
      const { whole = [], damaged = [] } = Object.groupBy(attachments, (_, index) => states[index] ?? 'damaged');
      return { whole, damaged };
    },
  };
}
