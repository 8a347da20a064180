import type { Attachment } from '../../../../protocol/stream-events.ts';
import type { ImageTask } from '../../terminal/images/draw-image.ts';
import type { Graphics } from '../../terminal/images/graphics.ts';
import { readImageSize } from '../../terminal/images/image-size.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import type { Screen } from '../../terminal/screen.ts';

interface ImageDeps {
  graphics(): Graphics | undefined;
  screen: Pick<Screen, 'columns' | 'rows'>;
  /** The bytes, if the person may read them. */
  download(attachmentId: string): Promise<Uint8Array>;
  /** Undefined for an image that cannot be decoded. */
  draw(task: ImageTask): Promise<string[] | undefined>;
  print(lines: readonly string[]): void;
}

/** A larger one is only named. */
const MOST_BYTES = 5_000_000;

/** Prints images of a message: their names and sizes, and where the terminal can, themselves. */
export async function showImages(attachments: readonly Attachment[], deps: ImageDeps): Promise<void> {
  for (const attachment of attachments) {
    if (attachment.kind === 'image') deps.print(await toLines(attachment, deps));
  }
}

async function toLines(
  { attachment_id: id, filename, size_bytes: size }: Attachment,
  { download, draw, graphics, screen }: ImageDeps,
): Promise<string[]> {
  const bytes = size > MOST_BYTES ? undefined : await download(id).catch(() => undefined); // its name is enough then
  const found = bytes && readImageSize(bytes);
  const name = toSafeText(filename).replaceAll('\n', ' ');
  const line = `[image: ${name}${found ? `, ${found.width}×${found.height}` : ''}]`;
  const known = graphics();
  const rows =
    bytes && known && (await draw({ bytes, graphics: known, room: { columns: screen.columns, rows: screen.rows } }));
  return [line, ...(rows ?? [])];
}
