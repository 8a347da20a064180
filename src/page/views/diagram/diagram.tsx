import { useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { DiagramDrawer, type Drawn } from '../../state/diagrams/diagram-drawer.ts';
import type { Picture } from '../../state/diagrams/diagram-messages.ts';
import { toDiagramName } from '../../state/diagrams/diagram-words.ts';
import styles from '../../styles/diagram.css?inline';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { CodeBlock, CopyButton } from '../text/code.tsx';
import { openDrawFrame } from './draw-frame.ts';
import { useDark } from './use-dark.ts';

adoptStyles(styles);

/** One frame for all diagrams of the page. */
const drawer = new DiagramDrawer({ open: openDrawFrame, timers: systemTimers });

/** A diagram in the language of Mermaid, as a picture, with its source. What cannot be drawn is shown as its source, with the reason. */
export function Diagram({ source }: { source: string }) {
  const [drawn, setDrawn] = useState<Drawn | undefined>();
  const tries = useSignal(0);
  const showsSource = useSignal(false);
  const isDark = useDark();
  useEffect(() => {
    const gone = new AbortController();
    void drawer.draw(source, isDark, gone.signal).then((result) => {
      if (!gone.signal.aborted) setDrawn(result);
    });
    return () => gone.abort();
  }, [source, isDark, tries.value]);
  if (drawn?.kind !== 'picture')
    return (
      <div class="diagram-source">
        <CodeBlock text={source} language="mermaid" />
        {drawn !== undefined && (
          <p class="diagram-note">
            <span>This diagram could not be drawn. {drawn.reason}</span>
            {drawn.isPassing && (
              <button type="button" class="quiet" onClick={() => tries.value++}>
                Try again
              </button>
            )}
          </p>
        )}
      </div>
    );
  return (
    <figure class="code diagram">
      <figcaption>
        <span>mermaid</span>
        <span class="diagram-actions">
          <button
            type="button"
            class="quiet copy"
            aria-pressed={showsSource.value}
            onClick={() => {
              showsSource.value = !showsSource.value;
            }}
          >
            Source
          </button>
          <CopyButton text={source} />
        </span>
      </figcaption>
      {showsSource.value && <CodeBlock text={source} language="mermaid" />}
      <PictureView picture={drawn} />
    </figure>
  );
}

/** An image, in which browsers run no scripts, follow no links and load nothing. */
const PictureView = ({ picture }: { picture: Picture }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
  <div class="diagram-scroll" tabIndex={0}>
    <img
      src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.svg)}`}
      alt={toDiagramName(picture)}
      width={Math.ceil(picture.width)}
      height={Math.ceil(picture.height)}
    />
  </div>
);
