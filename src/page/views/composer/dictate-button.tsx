import { useEffect, useMemo } from 'preact/hooks';
import { Dictation, type Recognition, withSpoken } from '../../state/composer/dictation.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';

declare global {
  var SpeechRecognition: (new () => Recognition) | undefined;
  var webkitSpeechRecognition: (new () => Recognition) | undefined;
}

/** Dictates into the message, where the browser can recognise speech. Some browsers send the sound to their makers, so the title says so. */
export function DictateButton({ tab }: { tab: Tab }) {
  const Recognizer = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition;
  const dictation = useMemo(
    () =>
      Recognizer &&
      new Dictation({
        create: () => new Recognizer(),
        language: navigator.language,
        onText: (text) => {
          tab.draft.value = withSpoken(tab.draft.peek(), text);
        },
        onProblem: (problem) => {
          tab.problem.value = problem;
        },
      }),
    [Recognizer, tab],
  );
  useEffect(() => () => dictation?.dispose(), [dictation]);
  if (!dictation) return null;
  const isOn = dictation.isOn.value;
  return (
    <button
      type="button"
      class={`quiet icon-only dictate ${isOn ? 'on' : ''}`}
      aria-label="Dictate"
      aria-pressed={isOn}
      title={
        isOn ? 'Stop dictating' : 'Dictate. Your browser recognises the speech, and may send the sound to its maker.'
      }
      onClick={() => {
        tab.problem.value = undefined;
        dictation.toggle();
      }}
    >
      <Icon name="microphone" />
    </button>
  );
}
