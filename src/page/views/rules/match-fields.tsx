import { ChoiceField, type RuleFieldsProps, TextField } from './rule-field.tsx';

/** Which calls a rule is about. The fields that are needed less often are folded, unless they are filled in. */
export const MatchFields = ({ fields, wrong }: RuleFieldsProps) => (
  <fieldset class="boxes">
    <legend>Which calls</legend>
    <p class="soft">A call fits if everything that you fill in fits.</p>
    <div class="field-pair">
      <TextField name="program" label="Program in a command" hint="git" fields={fields} wrong={wrong} />
      <TextField name="args" label="Its arguments" hint="push origin" isLong fields={fields} wrong={wrong} />
    </div>
    <ChoiceField name="argsHow" label="These arguments" wrong={wrong}>
      <option value="start">and any others after them</option>
      <option value="exact" selected={fields.argsHow === 'exact'}>
        and no others
      </option>
    </ChoiceField>
    <div class="field-pair">
      <TextField name="path" label="File or folder" hint="/home/ada/garden" fields={fields} wrong={wrong} />
      <ChoiceField name="access" label="How it is used" wrong={wrong}>
        <option value="">read or changed</option>
        <option value="read" selected={fields.access === 'read'}>
          read
        </option>
        <option value="write" selected={fields.access === 'write'}>
          changed or deleted
        </option>
      </ChoiceField>
    </div>
    <details open={MORE.some((name) => fields[name] !== '')}>
      <summary>More</summary>
      <TextField name="command" label="Exact command" isLong fields={fields} wrong={wrong} />
      <TextField name="host" label="Host" hint="example.org, or *.example.org" fields={fields} wrong={wrong} />
      <TextField name="tool" label="Tool (* and ? stand for characters)" hint="write_*" fields={fields} wrong={wrong} />
      <div class="field-pair">
        <TextField name="node" label="Node (its id)" fields={fields} wrong={wrong} />
        <TextField name="nodeCommand" label="Command of a node" hint="system.run" fields={fields} wrong={wrong} />
      </div>
    </details>
  </fieldset>
);

const MORE = ['command', 'host', 'tool', 'node', 'nodeCommand'] as const;
