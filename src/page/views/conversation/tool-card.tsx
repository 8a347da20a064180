import { useMemo } from 'preact/hooks';
import { isPlainRuling, toDecidedWords } from '../../../../protocol/text/rule-words.ts';
import { hasOwnPreview } from '../../state/conversation/asked-item.ts';
import type { ToolBlock, ToolPhase } from '../../state/conversation/blocks.ts';
import { recallPreview } from '../../state/conversation/recalled-preview.ts';
import { toPlainText } from '../../state/text/ansi.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { findLanguage } from '../../state/text/languages.ts';
import { toLength } from '../../state/text/moment.ts';
import { Icon, type IconName } from '../icons.tsx';
import { FileName } from '../text/file-name.tsx';
import { PatchView } from '../text/patch-view.tsx';
import { Attachments } from './attachments.tsx';
import { type ConversationContext, useConversation, useRemembered } from './conversation-context.ts';
import { OpenAside } from './open-aside.tsx';
import { Output } from './output.tsx';

const PHASES: Record<ToolPhase, { word: string; icon: IconName }> = {
  running: { word: 'running', icon: 'clock' },
  done: { word: 'done', icon: 'check' },
  failed: { word: 'failed', icon: 'warning' },
  denied: { word: 'denied', icon: 'cross' },
  expired: { word: 'not decided in time', icon: 'cross' },
  blocked: { word: 'blocked', icon: 'cross' },
  cancelled: { word: 'stopped', icon: 'stop' },
  unknown: { word: 'outcome unknown', icon: 'question' },
};

/** One tool call: its header, its output and how it ended. It opens automatically while there is something to see. */
export function ToolCard({ tool }: { tool: ToolBlock }) {
  const [chosen, choose] = useRemembered(`open ${tool.key}`);
  const { word, icon } = PHASES[tool.phase];
  const isOpen = chosen ?? opensItself(tool);
  const told = tool.ruling && !isPlainRuling(tool.ruling) ? toDecidedWords(tool.ruling) : undefined;
  return (
    // An article, not a section: several calls of one tool would be landmarks of the same name.
    <article class={`block tool ${tool.phase}`} aria-label={`Tool ${tool.name}, ${word}`}>
      <button type="button" class="tool-head" aria-expanded={isOpen} onClick={() => choose(!isOpen)}>
        <Icon name="chevron" />
        <ToolHeader {...tool} />
        <span class="tool-phase">
          <Icon name={icon} />
          {[...(tool.agent === undefined ? [] : [`sub-agent: ${tool.agent}`]), word, ...toEnding(tool)].join(' · ')}
        </span>
      </button>
      {told !== undefined && <p class="ruling">{told}</p>}
      {isOpen && <ToolBody tool={tool} />}
    </article>
  );
}

/** The exit code and the duration of a failed command. */
function toEnding({ phase, exitCode, durationMs }: ToolBlock): string[] {
  if (phase !== 'failed') return [];
  return [
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(durationMs === undefined ? [] : [toLength(durationMs)]),
  ];
}

function ToolBody({ tool }: { tool: ToolBlock }) {
  const { wsId, openAside } = useConversation();
  const output = tool.result ?? tool.live;
  const isRunning = tool.phase === 'running';
  const { recalled, ruling } = tool;
  const preview = useMemo(
    () => (recalled ? recallPreview(recalled) : { text: tool.preview, isDiff: tool.isDiff, isNumbered: true }),
    [recalled, tool.preview],
  );
  const isEmpty = toPlainText(output).trim() === '';
  return (
    <div class="tool-body">
      {FILE_TOOLS.includes(tool.name) && !preview.isDiff && tool.subject !== undefined && (
        <OpenFile path={tool.subject} />
      )}
      {openAside && <OpenWhole tool={tool} openAside={openAside} />}
      {tool.notSandboxed !== undefined && <NotSandboxed reason={tool.notSandboxed} />}
      {hasOwnPreview({ ...tool, preview: preview.text }) && (
        <PatchView
          text={preview.text}
          isDiff={preview.isDiff}
          numbered={preview.isNumbered}
          language={findLanguage(tool.name)}
        />
      )}
      {tool.liveDropped > 0 && tool.result === undefined && (
        <p class="dropped">{`The first ${tool.liveDropped.toLocaleString()} characters are hidden while the tool runs.`}</p>
      )}
      {!isEmpty && (
        <Output
          callId={tool.callId}
          text={output}
          phase={tool.phase}
          wholeBytes={tool.wholeBytes}
          onOpen={openAside && (() => openAside({ view: 'output', callId: tool.callId }))}
        />
      )}
      {tool.attachments && <Attachments wsId={wsId} files={tool.attachments} />}
      {tool.warning && <OutputWarning {...tool.warning} />}
      {isEmpty && !isRunning && <p class="dropped">No output.</p>}
      {ruling && isPlainRuling(ruling) && <p class="dropped">{toDecidedWords(ruling)}</p>}
    </div>
  );
}

/** What a call has made besides its output. */
function OpenWhole({ tool: { name, callId }, openAside }: { tool: ToolBlock; openAside: OpenAsideOf }) {
  if (name === 'task')
    return <OpenAside label="Open the sub-agent" onOpen={() => openAside({ view: 'agent', callId })} />;
  if (name === 'plan_agent')
    return <OpenAside label="Open the plan" onOpen={() => openAside({ view: 'plan', callId })} />;
  return null;
}

type OpenAsideOf = NonNullable<ConversationContext['openAside']>;

/** The tools whose subject is a file. A diff names its file itself. */
const FILE_TOOLS = ['read_file', 'write_file'];

const OpenFile = ({ path }: { path: string }) => (
  <p class="dropped tool-file">
    <FileName text={path} />
  </p>
);

/** The tool's name in bold and what the call works on; the header alone if nothing else is known. */
export function ToolHeader({ name, header, subject }: Pick<ToolBlock, 'name' | 'header' | 'subject'>) {
  if (subject === undefined) return <span class="tool-title">{showHidden(header)}</span>;
  return (
    <span class="tool-title">
      <b>{name}</b> {showHidden(subject)}
    </span>
  );
}

export const NotSandboxed = ({ reason }: { reason: string }) => (
  <p class="not-sandboxed">
    <Icon name="shield" />
    <span>
      <b>Not sandboxed</b>
      {reason === '' ? '' : `: ${reason}`}. It can use local sockets (Docker, ssh-agent).
    </span>
  </p>
);

const OutputWarning = ({ risk_level, annotations, redacted }: NonNullable<ToolBlock['warning']>) => (
  <p class={`output-warning ${risk_level}`}>
    <Icon name="warning" />
    <span>
      <b>{redacted ? 'Secrets were hidden' : 'Be careful with this output'}</b>
      {`: ${annotations.join(' ')}`}
    </span>
  </p>
);

/** The output of these tools is long and rarely interesting, so their cards stay closed. */
const QUIET_TOOLS = ['read_file', 'search', 'glob', 'list_directory', 'read_output', 'todo', 'web_fetch', 'web_search'];

const opensItself = ({ phase, name }: ToolBlock) =>
  phase === 'running' || phase === 'failed' || phase === 'unknown' || (phase === 'done' && !QUIET_TOOLS.includes(name));
