import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { isAboutFiles } from '../../state/aside/aside-target.ts';
import type { TalkBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { BlockView } from '../conversation/block-view.tsx';
import type { Overlay } from '../overlay.ts';
import { LazyDialog, LazyPiece } from '../parts/lazy-views.tsx';
import { ASIDE, CHANGES } from '../parts/parts.ts';
import { Markdown } from '../text/markdown.tsx';

interface AsidePlaceProps {
  app: App;
  desk: Desk;
  tab: Tab;
  overlay: Overlay;
}

/** What was opened from the conversation: beside it on a wide screen, in a dialog on others. */
export function AsidePlace({ app, desk, tab, overlay }: AsidePlaceProps) {
  const isWide = useIsWide();
  const asked = tab.aside.value;
  const target = asked && isAboutFiles(asked) && !app.rights.write.value ? undefined : asked;
  const shown = overlay.value;
  const close = () => {
    tab.aside.value = undefined;
  };
  // A dialog is an overlay, so that the shortcuts and the way back find it.
  useLayoutEffect(() => {
    if (target && !isWide) overlay.value = 'aside';
    else if (overlay.peek() === 'aside') overlay.value = undefined;
  }, [target, isWide, overlay]);
  useLayoutEffect(
    () => () => {
      if (overlay.peek() === 'aside') overlay.value = undefined;
    },
    [overlay],
  );
  useEffect(() => {
    if (shown !== 'aside' && !isWide) tab.aside.value = undefined; // something else closed it, or took its place
  }, [shown]);
  if (!target) return null;
  const runChanges = (
    <LazyPiece part={CHANGES} desk={desk}>
      {({ RunChangesView }) => <RunChangesView app={app} desk={desk} tab={tab} />}
    </LazyPiece>
  );
  // Passed on, because these views may show parts of the page themselves.
  const draw = {
    block: (block: TalkBlock) => (
      <BlockView
        key={block.key}
        block={block}
        isPending={false}
        turn={undefined}
        isBusy={false}
        app={app}
        desk={desk}
        tab={tab}
      />
    ),
    markdown: (text: string) => <Markdown text={text} streaming={false} />,
  };
  const common = { app, desk, tab, target, runChanges, draw, onClose: close };
  if (!isWide)
    return (
      <LazyDialog part={ASIDE} title="" desk={desk} onClose={close}>
        {({ AsideDialog }) => <AsideDialog {...common} />}
      </LazyDialog>
    );
  return (
    <LazyPiece part={ASIDE} desk={desk}>
      {({ AsidePane }) => <AsidePane {...common} />}
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
