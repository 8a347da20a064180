import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { toFileReference } from '../../state/workspace/file-reference.ts';
import { InConversation } from '../conversation/conversation-context.ts';

/** A text that opens the file it names, such as `src/main.ts:12`, for those who may read the files of the conversation. */
export const FileName = ({ text }: { text: string }) => <FileLink path={text}>{showHidden(text)}</FileLink>;

/** Opens a file; its content alone if the path is probably something else. */
export function FileLink({ path, children }: { path: string; children: ComponentChildren }) {
  const openFile = useContext(InConversation)?.openFile;
  const target = openFile && toFileReference(path);
  if (!target) return <>{children}</>;
  return (
    <button type="button" class="file-link" title={`Open ${showHidden(path)}`} onClick={() => openFile(target)}>
      {children}
    </button>
  );
}
