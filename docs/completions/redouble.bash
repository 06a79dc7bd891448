# Completion of redouble for bash; printed by: redouble completion bash
_redouble() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "replay explore storm serve redis-server record trace inspect convert migrate keys help completion --help --version" -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]} $before" in
    "explore --strategy") words="combined exhaustive mixed uniform walk pct partial-order mutation" ;;
    "storm "*) words="gateway korvet orchestrator relayna studio threescale" ;;
    "serve --clock") words="system manual" ;;
    "serve --compatibility") words="redis-7.0 redis-7.2 redis-7.4 redis-8.0 valkey-8.0 valkey-8.1" ;;
    "serve --load-times") words="keep shift" ;;
    "serve --appendonly") words="yes no" ;;
    "serve --loglevel") words="debug verbose notice warning" ;;
    "trace trace") words="diff" ;;
    "inspect --compatibility") words="redis-7.0 redis-7.2 redis-7.4 redis-8.0 valkey-8.0 valkey-8.1" ;;
    "convert --compatibility") words="redis-7.0 redis-7.2 redis-7.4 redis-8.0 valkey-8.0 valkey-8.1" ;;
    "help "*) words="replay explore storm serve redis-server record trace inspect convert migrate keys help completion" ;;
    "completion "*) words="bash zsh fish" ;;
  esac
  if [ -z "$words" ] && [[ "$word" == -* ]]; then case "${COMP_WORDS[1]}" in
    replay) words="--help --redis --spawn-redis --flush --filter --verbose --trace --html --until --break-at --changes" ;;
    explore) words="--help --program --setup --schedules --seed --jobs --hardened --swarm --exhaustive --strategy --schedule --seconds --all --out --catalogue" ;;
    storm) words="--help --seed --runs --minutes --run --jobs --hardened --no-shrink --layout --masters --out" ;;
    serve) words="--help --port --unixsocket --bind --config --clock --start --seed --compatibility --requirepass --maxmemory --cluster-slots --load --load-times --pattern --family --rules --dir --dbfilename --appendonly --replicaof --aclfile --enable-debug-command --loglevel --ready-file --exit-with-parent" ;;
    redis-server) words="--help" ;;
    record) words="--help --out --for --count --name --keep-ids" ;;
    trace) words="--help" ;;
    inspect) words="--help --redis --at --bind --rules --pattern --family --layout --compatibility --format --limit" ;;
    convert) words="--help --compatibility --pattern --family --rules" ;;
    migrate) words="--help --system --from --to --layout-from --layout-to --bind --resume --rate --batch --follow --dry-run" ;;
    keys) words="--help --system --format --layout" ;;
    help) words="--help --man" ;;
    completion) words="--help" ;;
  esac; fi
  if [ -z "$words" ]; then
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -o filenames -F _redouble redouble
