import { readFileSync, readdirSync } from 'node:fs';
import ts from 'typescript';

/** An English message of the code. */
interface FoundMessage {
  message: string;
  place: string;
  /** Whether it is what a button or a link says, so that it has to stay short. */
  isLabel: boolean;
}

export interface FoundMessages {
  messages: FoundMessage[];
  /** Where something that is put together is marked as a message, which no catalogue can have. */
  notConstant: string[];
}

const LABEL_ELEMENTS = new Set(['a', 'button', 'LinkButton', 'PostButton', 'PasskeyButton', 'RowLink']);
const LABEL_NAMES = new Set(['submit', 'keep']);

const isCallOf = (node: ts.Node, name: string): boolean =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name;

/** The names that the file imports from the modules that speak in languages. */
function languageNames(file: ts.SourceFile): Set<string> {
  const names = file.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const from = (statement.moduleSpecifier as ts.StringLiteral).text;
    const bindings = statement.importClause?.namedBindings;
    if (!/\/(language\/text|say|text)\.js$/.test(from) || !bindings || !ts.isNamedImports(bindings))
      return [];
    return bindings.elements.map(({ name }) => name.text);
  });
  return new Set(names);
}

/** Whether it is a call of `….t(…)`, as contexts of pages have it. */
const isCallOfMember = (node: ts.CallExpression): boolean =>
  ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 't';

/** The argument that is a message: of `t(…)`, `context.t(…)`, `say(…)`, `said(…)`, `useText()(…)` and `text(language, …)`. */
function messageArgument(node: ts.CallExpression, names: Set<string>): ts.Expression | undefined {
  const isFirst =
    isCallOf(node, 't') ||
    isCallOfMember(node) ||
    (names.has('useText') && isCallOf(node.expression, 'useText')) ||
    ['say', 'said'].some((name) => names.has(name) && isCallOf(node, name));
  if (isFirst) return node.arguments[0];
  const isSecond =
    (names.has('text') && isCallOf(node, 'text')) ||
    (names.has('compiledMessage') && isCallOf(node, 'compiledMessage'));
  return isSecond ? node.arguments[1] : undefined;
}

/** The constants among what an expression may be; and what it may be besides. */
function partsOf(expression: ts.Expression): ts.Expression[] {
  if (ts.isParenthesizedExpression(expression)) return partsOf(expression.expression);
  if (ts.isConditionalExpression(expression))
    return [...partsOf(expression.whenTrue), ...partsOf(expression.whenFalse)];
  return [expression];
}

const isPutTogether = (expression: ts.Expression): boolean =>
  ts.isTemplateExpression(expression) || ts.isBinaryExpression(expression);

function isLabel(node: ts.Node): boolean {
  for (let at = node.parent; at && !ts.isBlock(at) && !ts.isSourceFile(at); at = at.parent) {
    if (ts.isJsxElement(at)) return LABEL_ELEMENTS.has(at.openingElement.tagName.getText());
    if (ts.isJsxSelfClosingElement(at)) return false;
    if (ts.isJsxAttribute(at)) return LABEL_NAMES.has(at.name.getText());
    if (ts.isPropertyAssignment(at)) {
      const name = at.name.getText();
      const owner = at.parent.parent;
      const isAction = ts.isPropertyAssignment(owner) && owner.name.getText() === 'action';
      return LABEL_NAMES.has(name) || (name === 'label' && isAction);
    }
  }
  return false;
}

/** Whether there may be a message in a file: few have one, and only those are parsed. */
const maySpeak = (source: string): boolean =>
  /\b(t|say|said|useText|text|compiledMessage)\s*[<(]|<Say\b/.test(source);

function messagesIn(path: string, found: FoundMessages): void {
  const source = readFileSync(path, 'utf8');
  if (!maySpeak(source)) return;
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, kind);
  const names = languageNames(file);
  const placeOf = (node: ts.Node): string =>
    `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  const add = (expression: ts.Expression): void => {
    for (const part of partsOf(expression)) {
      if (ts.isStringLiteralLike(part)) {
        found.messages.push({ message: part.text, place: placeOf(part), isLabel: isLabel(part) });
      } else if (isPutTogether(part)) found.notConstant.push(placeOf(part));
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const argument = messageArgument(node, names);
      if (argument) add(argument);
    }
    if (names.has('Say') && ts.isJsxAttribute(node) && node.name.getText() === 'it' && node.initializer) {
      const { initializer } = node;
      if (ts.isStringLiteral(initializer)) add(initializer);
      else if (ts.isJsxExpression(initializer) && initializer.expression) add(initializer.expression);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Every English message in the code of the service: in `t(…)`, `say(…)`, `text(…)` and `<Say it=…>`. */
export function foundMessages(): FoundMessages {
  const found: FoundMessages = { messages: [], notConstant: [] };
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((each) => /\.tsx?$/.test(each)).sort()) messagesIn(`src/${name}`, found);
  return found;
}
