// Tests the type declarations as compilers resolve them and as editors show them.

import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import ts from 'typescript';

import { PROJECTS, project, ROOT, run, SANITIZED } from './project.js';

const require = createRequire(import.meta.url);
const COMPILERS = {
  'TypeScript 5': require.resolve('typescript/bin/tsc'),
  'TypeScript 7': join(ROOT, 'node_modules/typescript/bin/tsc'),
};

for (const [name, compiler] of Object.entries(COMPILERS)) {
  describe(name, () => {
    for (const [label, type, module, moduleResolution, lib] of [
      ['node16, ES modules', 'module', 'node16', 'node16', ['es2022', 'dom']],
      ['node16, CommonJS', 'commonjs', 'node16', 'node16', ['es2022', 'dom']],
      ['bundler', 'module', 'esnext', 'bundler', ['es2022', 'dom']],
      ['without the types of a browser', 'module', 'node16', 'node16', ['es2022']],
    ]) {
      test(label, () => {
        const folder = join(project('typescript'), 'dist');
        const options = {
          module,
          moduleResolution,
          lib,
          target: 'es2022',
          strict: true,
          types: [],
          skipLibCheck: false,
        };
        const compilerOptions = { ...options, exactOptionalPropertyTypes: true };
        writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
        copyFileSync(join(folder, '..', 'usage.ts'), join(folder, 'usage.ts'));
        if (!lib.includes('dom'))
          writeFileSync(join(folder, 'log.d.ts'), 'declare var console: { log(text: string): void };');
        run(process.execPath, [compiler, '-p', folder], folder);
        assert.equal(run(process.execPath, ['usage.js'], folder), SANITIZED);
      });
    }
  });
}

test('every export has a doc comment that editors show', () => {
  const folder = join(PROJECTS, 'typescript');
  const entries = ['toolwire', 'toolwire/slim', 'toolwire/fetch'];
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] };
  const files = entries.map((entry) => {
    const { resolvedModule } = ts.resolveModuleName(
      entry,
      join(folder, 'usage.mts'),
      options,
      ts.sys,
      undefined,
      undefined,
      ts.ModuleKind.ESNext,
    );
    assert.ok(resolvedModule, entry);
    return resolvedModule.resolvedFileName;
  });
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const silent = new Set();
  let documented = 0;
  const look = (name, symbol) => {
    if (symbol.getDocumentationComment(checker).length === 0) silent.add(name);
    else documented++;
    for (const [, member] of [...(symbol.members ?? []), ...(symbol.exports ?? [])]) {
      // Skips anonymous members: signatures, constructors, and members that TypeScript generates.
      if (member.flags & (ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)) {
        if (!/^(__|#)|^prototype$/.test(member.name)) look(`${name}.${member.name}`, member);
      }
    }
  };
  for (const file of files) {
    for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      look(symbol.name, target);
    }
  }
  assert.deepEqual([...silent], []);
  assert.ok(documented > 100, `${documented} are documented`);
});
