import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Skill } from '../../../../protocol/methods/skills/skill.ts';
import type { SkillResource } from '../../../../protocol/methods/skills/skill-resource.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { Reading } from '../../state/reading/reading.ts';
import type { FormRefusal } from '../../state/skills/refused-fields.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { focusOnProblem } from '../rows/field-frame.tsx';
import { RemovableRow } from '../rows/removable-row.tsx';
import { useSubmit } from '../use-submit.ts';
import { Field } from './skill-fields.tsx';

interface FilesDialogProps {
  desk: Desk;
  skill: Skill;
  onClose(): void;
}

/** The files that a skill brings. Those of an installed one can only be looked at. */
export function FilesDialog({ desk, skill, onClose }: FilesDialogProps) {
  const { skills: board } = agentPanelOf(desk);
  const files = useSignal<readonly SkillResource[] | undefined>(undefined);
  const reading = useMemo(() => new Reading(desk.client), [desk]);
  const read = () =>
    reading.read(
      () => board.files(skill),
      (found) => {
        files.value = found;
      },
    );
  useEffect(() => void read(), [skill.skillId, skill.resourceCount]);
  const isFixed = skill.origin === 'source';
  return (
    <Dialog title={`Files of ${toVisibleLine(skill.name)}`} onClose={onClose}>
      <div class="skill-files">
        <p class="soft" tabIndex={-1} id="skill-files-about">
          A model reads them when the instructions name them. Nothing runs because it is here.
          {isFixed && ' The skill was installed, so they cannot be changed.'}
        </p>
        <ReadingNotice of={[reading]} />
        {files.value?.length === 0 && (
          <p class="empty">It has no files. Add what its instructions mention, such as a template or a script.</p>
        )}
        <ul class="token-list" aria-label="Files">
          {files.value?.map((file) => (
            <FileRow
              key={file.path}
              file={file}
              remove={
                isFixed
                  ? undefined
                  : async () => {
                      const problem = await board.removeFile(skill, file.path);
                      await read();
                      return problem;
                    }
              }
            />
          ))}
        </ul>
      </div>
      {!isFixed && <FileForm desk={desk} skill={skill} onAdded={read} />}
    </Dialog>
  );
}

interface FileRowProps {
  file: SkillResource;
  /** Undefined: it cannot be removed. */
  remove: (() => Promise<string | undefined>) | undefined;
}

const FileRow = ({ file: { path, size, content }, remove }: FileRowProps) => (
  <RemovableRow
    removal={
      remove && {
        name: toVisibleLine(path),
        loss: 'from the skill? This cannot be undone.',
        remove,
        focusAfter: 'skill-files-about',
      }
    }
  >
    {(removeButton) => (
      <div class="token-row">
        <details>
          <summary>
            <code>{toVisibleLine(path)}</code> <span class="account-facts">{toSize(size)}</span>
          </summary>
          <pre dir="auto">{toVisibleText(content)}</pre>
        </details>
        {removeButton}
      </div>
    )}
  </RemovableRow>
);

const toSize = (bytes: number): string =>
  bytes < 1_024 ? `${bytes} bytes` : `${(bytes / 1_024).toLocaleString(undefined, { maximumFractionDigits: 1 })} KiB`;

function FileForm({ desk, skill, onAdded }: { desk: Desk; skill: Skill; onAdded(): Promise<void> }) {
  const { skills: board } = agentPanelOf(desk);
  const refusal = useSignal<FormRefusal | undefined>(undefined);
  const added = useSignal<string | undefined>(undefined);
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { path = '', content = '' } = fieldsOf(form);
    [refusal.value, added.value] = [undefined, undefined];
    refusal.value = await board.addFile(skill, { path: path.trim(), content: content.replaceAll('\r', '') });
    if (refusal.value !== undefined) {
      focusOnProblem(form);
      return refusal.value.rest;
    }
    form.reset();
    added.value = path.trim();
    await onAdded();
    return undefined;
  });
  const shown = { texts: {}, refusal: refusal.value };
  return (
    <form class="account-dialog server-form" noValidate onSubmit={onSubmit}>
      <FileChoice />
      <Field {...shown} name="path" label="Path" placeholder="references/groups.md" maxLength={512} />
      <Field {...shown} name="content" label="Content" rows={4} />
      <p class="soft" role="status">
        {added.value !== undefined && `Added ${toVisibleLine(added.value)}.`}
      </p>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <footer>
        <button type="submit" class="primary" disabled={busy.value}>
          Add the file
        </button>
      </footer>
    </form>
  );
}

/** Fills in the form from a file of the person’s machine. */
const FileChoice = () => (
  <label>
    From a file
    <input
      type="file"
      onChange={({ currentTarget }) => {
        const [file] = currentTarget.files ?? [];
        const { form } = currentTarget;
        if (file && form) void fillFrom(file, form);
      }}
    />
  </label>
);

async function fillFrom(file: File, form: HTMLFormElement): Promise<void> {
  const path = form.elements.namedItem('path');
  const content = form.elements.namedItem('content');
  const text = await file.text();
  if (content instanceof HTMLTextAreaElement) content.value = text;
  if (path instanceof HTMLInputElement && path.value === '') path.value = `${folderFor(file.name)}/${file.name}`;
}

const folderFor = (name: string): string => (/\.(sh|py|js|ts|rb|pl)$/.test(name) ? 'scripts' : 'references');
