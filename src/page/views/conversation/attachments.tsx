import type { Attachment } from '../../../../protocol/stream-events.ts';
import { contentAddress } from '../../state/files.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { Icon } from '../icons.tsx';

/** The files of a message, as links. Images are shown, other files by name. */
export const Attachments = ({ wsId, files }: { wsId: string; files: readonly Attachment[] }) => (
  <ul class="attachments" aria-label="Attachments">
    {files.map(({ attachment_id: id, filename, kind, size_bytes }) => (
      <li key={id}>
        <a href={contentAddress(wsId, id)} target="_blank" rel="noreferrer">
          {kind === 'image' ? (
            <img src={contentAddress(wsId, id)} alt={showHidden(filename)} loading="lazy" />
          ) : (
            <>
              <Icon name="clip" />
              <bdi>{showHidden(filename)}</bdi>
            </>
          )}
        </a>{' '}
        <span class="attachment-size">{toSize(size_bytes)}</span>
      </li>
    ))}
  </ul>
);

const toSize = (bytes: number): string =>
  bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${Math.round(bytes / 1_000)} kB`
      : `${(bytes / 1e6).toFixed(1)} MB`;
