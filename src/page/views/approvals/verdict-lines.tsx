import type { AskedVerdict } from '../../state/conversation/asked-item.ts';
import { Icon } from '../icons.tsx';

/** How the judge rates a call; below each verdict, what led to it. */
export const VerdictLines = ({ verdicts }: { verdicts: readonly AskedVerdict[] }) =>
  verdicts.map(({ level, text, details }) => (
    <div key={text} class={`rating ${level}`}>
      <p>
        <Icon name={level === 'low' ? 'shield' : 'warning'} />
        <span>{text}</span>
      </p>
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
    </div>
  ));

/** The same in two words, next to the header of the call. */
export const VerdictTag = ({ verdict: { level, text } }: { verdict: AskedVerdict }) => (
  <span class={`tag rating ${level}`} title={text}>
    {`${level} risk`}
  </span>
);
