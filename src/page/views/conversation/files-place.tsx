import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import type { Overlay } from '../overlay.ts';
import { LazyDialog, LazyPiece } from '../parts/lazy-views.tsx';
import { CHANGES, FILES } from '../parts/parts.ts';

interface FilesPlaceProps {
  app: App;
  desk: Desk;
  tab: Tab;
  overlay: Overlay;
}

/** The files of the workstream: beside the conversation on a wide screen, in a dialog on others. */
export function FilesPlace({ app, desk, tab, overlay }: FilesPlaceProps) {
  const isWide = useIsWide();
  const target = tab.files.value;
  const shown = overlay.value;
  const close = () => {
    tab.files.value = undefined;
  };
  // A dialog is an overlay, so that the shortcuts and the way back find it.
  useLayoutEffect(() => {
    if (target && !isWide) overlay.value = 'files';
    else if (overlay.peek() === 'files') overlay.value = undefined;
  }, [target, isWide, overlay]);
  useLayoutEffect(
    () => () => {
      if (overlay.peek() === 'files') overlay.value = undefined;
    },
    [overlay],
  );
  useEffect(() => {
    if (shown !== 'files' && !isWide) tab.files.value = undefined; // something else closed it, or took its place
  }, [shown]);
  if (!target) return null;
  const runChanges = (
    <LazyPiece part={CHANGES} desk={desk}>
      {({ RunChangesView }) => <RunChangesView app={app} desk={desk} tab={tab} />}
    </LazyPiece>
  );
  if (!isWide)
    return (
      <LazyDialog part={FILES} title="Files" desk={desk} onClose={close}>
        {({ FilesDialog }) => (
          <FilesDialog desk={desk} tab={tab} runChanges={runChanges} target={target} onClose={close} />
        )}
      </LazyDialog>
    );
  return (
    <LazyPiece part={FILES} desk={desk}>
      {({ FilesPane }) => <FilesPane desk={desk} tab={tab} runChanges={runChanges} target={target} onClose={close} />}
    </LazyPiece>
  );
}

/** From here on, there is room for both. */
const WIDE = '(min-width: 1400px)';

function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const onChange = () => setIsWide(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isWide;
}
