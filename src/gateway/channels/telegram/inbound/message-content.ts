import type { Message, PhotoSize } from '@grammyjs/types';
import { LIMITS } from '../../../../../protocol/limits.ts';
import type { ChatFile, ChatMessage } from '../../chats/chat-message.ts';

type Content = Pick<ChatMessage, 'files' | 'unreadable'>;

/** What a message consists of, besides text. */
export const contentOf = (message: Message): Content =>
  recordingOf(message) ??
  fileOf(message) ?? { files: [], unreadable: UNREADABLE.find(([field]) => message[field] !== undefined)?.[1] };

function recordingOf({ voice, audio, video_note: videoNote }: Message): Content | undefined {
  if (voice) return withSpeech({ ...voice, fileName: 'voice.oga', isOwnVoice: true });
  if (audio) return withSpeech({ ...audio, fileName: audio.file_name ?? 'audio.mp3' });
  return videoNote && withSpeech({ ...videoNote, fileName: 'video-note.mp4', isOwnVoice: true });
}

function fileOf({ photo, video, animation, document, sticker }: Message): Content | undefined {
  if (photo) return withFile({ ...bestOf(photo), fileName: undefined });
  if (video) return withFile({ ...video, fileName: video.file_name ?? 'video.mp4' });
  // It comes as a document, too.
  if (animation) return withFile({ ...animation, fileName: animation.file_name ?? 'animation.mp4' });
  if (document) return withFile({ ...document, fileName: document.file_name });
  if (!sticker || sticker.is_animated || sticker.is_video) return undefined;
  return withFile({ ...sticker, fileName: `sticker ${sticker.emoji ?? ''}`.trim() });
}

interface NamedFile {
  file_id: string;
  file_size?: number;
  duration?: number;
  fileName: string | undefined;
  isOwnVoice?: true;
}

const toFile = (
  kind: ChatFile['kind'],
  { file_id: id, file_size: size, duration: seconds, fileName, isOwnVoice }: NamedFile,
): Content => ({
  files: [{ id, kind, fileName, size, seconds, ...(isOwnVoice && { isOwnVoice }) }],
  unreadable: undefined,
});
const withFile = (file: NamedFile) => toFile('file', file);
const withSpeech = (file: NamedFile) => toFile('speech', file);

/** The largest of its sizes that can be attached. */
function bestOf(sizes: readonly PhotoSize[]): Pick<PhotoSize, 'file_id' | 'file_size'> {
  const bySize = sizes.toSorted((one, other) => other.width * other.height - one.width * one.height);
  const fitting = bySize.find(({ file_size: size }) => (size ?? 0) <= LIMITS.imageBytes) ?? bySize.at(-1);
  return fitting ?? { file_id: '' };
}

/** Contents that are no files which can be attached, as people call them. Everything else, such as a new title of a group, is no message. */
const UNREADABLE: readonly (readonly [keyof Message, string])[] = [
  ['sticker', 'stickers that move'],
  ['contact', 'contacts'],
  ['location', 'locations'],
  ['venue', 'locations'],
  ['poll', 'polls'],
  ['story', 'stories'],
  ['paid_media', 'paid media'],
  ['dice', 'dice'],
  ['game', 'games'],
  ['checklist', 'checklists'],
];
