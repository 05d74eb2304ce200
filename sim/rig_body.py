"""What the bench of :mod:`hdnhw.sim.rig_harness` does in every cycle, in SystemVerilog; its sizes are parameters."""

BODY = """
  reg [63:0] state;
  function automatic [31:0] draw();
    begin
      state = state ^ (state << 13);
      state = state ^ (state >> 7);
      state = state ^ (state << 17);
      draw = state[63:32];
    end
  endfunction
  function automatic chance(input integer of_256);
    chance = {24'b0, draw() >> 24} < of_256;
  endfunction
  function automatic [NOISE-1:0] noise();
    integer k;
    for (k = 0; k < NOISE / 32; k = k + 1) noise[32*k +: 32] = draw();
  endfunction

  // Pins: what drives them is set at the end of a cycle, for the next one.
  reg rst, odd, inject_valid;
  reg [ADDRESS-1:0] address;
  reg [NEIGHBORS-1:0] neighbors;
  reg [ALL_PORTS-1:0] dead_o, dead_i;
  reg in_valid [0:PORTS-1];
  reg [WORD-1:0] in_word [0:PORTS-1];
  reg [7:0] in_vc [0:PORTS-1];
  reg [NOTICE-1:0] in_notice [0:PORTS-1];
  wire [VCS-1:0] in_credit [0:PORTS-1];
  wire [15:0] errors [0:PORTS-1];
  wire out_valid [0:PORTS];
  wire [WORD-1:0] out_word [0:PORTS];
  wire [7:0] out_vc [0:PORTS];
  wire [NOTICE-1:0] out_notice [0:PORTS];
  reg [VCS-1:0] out_credit [0:PORTS];
  reg [WIDTH-1:0] inject_data;
  wire inject_ready;
  wire [15:0] dropped, paused, lost;

  integer packets, limit, log, seed;
  integer now, cycle, phase, after, mode, left, resetting, quiet, accepted, resets, visit, flooded;
  integer send_rate, give_rate, eject_rate, inject_rate, deadly;
  integer p, v, k, n, at, queue;
  reg next_rst, restart, is_last, is_wrong, floods, holds, stops, is_head;
  localparam integer RUN = 0, FILL = 1, DRAIN = 2, FLOODING = 3;

  // Neighbors that send, at each port: a packet for each stage of the channel.
  reg is_sent [0:PORTS*STAGES-1], is_void [0:PORTS*STAGES-1];
  integer sent_vc [0:PORTS*STAGES-1];
  reg [ADDRESS-1:0] sent_to [0:PORTS*STAGES-1];
  reg [NOTICE-1:0] sent_onward [0:PORTS*STAGES-1];
  integer held [0:QUEUES-1], there [0:QUEUES-1], sent_at [0:PORTS-1];
  reg [LENGTH*WORD-1:0] coming [0:PORTS-1];
  reg [1:0] hurt [0:PORTS-1];
  reg [WORD-1:0] word, wrong;

  // Neighbors that receive, and last the terminal's buffer.
  reg was_valid [0:PORTS];
  integer was_vc [0:PORTS], of_vc [0:PORTS], got_at [0:PORTS];
  reg [LENGTH*WORD-1:0] got [0:PORTS];
  reg [NOTICE-1:0] told [0:PORTS], said [0:PORTS];
  integer has [0:QUEUES-1], ripe [0:QUEUES-1], ripening [0:PORTS*DELAY-1], apart;
  reg [VCS-1:0] gives, given [0:PORTS];

  // The terminal that sends.
  integer position, injected_at;
  reg offers, slipped, takes;
  reg [LENGTH*WORD-1:0] injecting;

  // What both ends of a channel know of its death.
  reg [ALL_PORTS-1:0] behind, ignored, next_dead;

  integer in_vcs [0:PORTS-1], in_slots [0:PORTS-1], out_vcs [0:PORTS], out_slots [0:PORTS], port_of [0:PORTS-1];
  reg [ADDRESS-1:0] visits [0:VISITS-1];
  reg odds [0:VISITS-1];
  reg [NEIGHBORS-1:0] around [0:VISITS-1];
  reg used [0:VISITS*QUEUES-1];
  reg [ADDRESS-1:0] destinations [0:VISITS*QUEUES*DESTINATIONS-1];
  reg [NOTICE-1:0] onwards [0:VISITS*QUEUES*DESTINATIONS-1];
  reg [ADDRESS-1:0] nowhere [0:DESTINATIONS-1];

  function automatic integer rate(input integer least);
    case (least + draw() % (5 - least))
      0: rate = 0;
      1: rate = 8;
      2: rate = 40;
      3: rate = 128;
      default: rate = 256;
    endcase
  endfunction

  function automatic integer duration();
    duration = 1 + draw() % ((chance(128) ? 16 : chance(128) ? 64 : 256) * LENGTH);
  endfunction

  task blame(input integer claim, input integer place);
    begin
      is_wrong = 1;
      $fwrite(log, "V %0d %0d %0d\\n", claim, place, now);
    end
  endtask

  task watch_output(input integer port);
    begin
      is_head = phase == OUT_HEAD;
      if (out_valid[port] != was_valid[port] && !is_head) blame(1, port);
      if (out_valid[port] && cycle < FIRST_HEAD) blame(2, port);
      n = out_vcs[port] > 1 ? was_vc[port] : 0;
      if (CUTS && is_head && port < PORTS)
        if (told[port][0] != out_valid[port]
            || (out_valid[port] ? told[port][NOTICE-1:TOLD] != n : told[port][TOLD-1:1] != 0)) blame(6, port);
      if (port < PORTS) begin  // what came some time ago has come to the neighbor's own crossbar
        k = ripening[port*DELAY+DELAY-1];
        if (k >= 0) ripe[port*VCS+k] = ripe[port*VCS+k] + 1;
        for (k = DELAY - 1; k > 0; k = k - 1) ripening[port*DELAY+k] = ripening[port*DELAY+k-1];
        ripening[port*DELAY] = -1;
      end
      if (out_valid[port]) begin
        if (is_head) begin
          of_vc[port] = n;
          said[port] = told[port];
          got_at[port] = now;
          if (n >= out_vcs[port]) blame(3, port);
          else begin
            if (has[port*VCS+n] == out_slots[port]) blame(4, port);
            has[port*VCS+n] = has[port*VCS+n] + 1;
            if (port < PORTS) ripening[port*DELAY] = n;
          end
        end else if (n != of_vc[port]) blame(3, port);
        if (LENGTH == 1) got[port] = out_word[port];
        else got[port] = {out_word[port], got[port][LENGTH*WORD-1:WORD % (LENGTH*WORD)]};
        if (phase == OUT_TAIL) begin
          $fwrite(log, "O %0d %0d %0d %h %h\\n", port, of_vc[port], got_at[port], said[port][TOLD-1:1], got[port]);
          if (port == PORTS) ripe[PORTS*VCS] = ripe[PORTS*VCS] + 1;
          quiet = 0;
        end
      end
      for (v = 0; v < out_vcs[port]; v = v + 1)
        if (given[port][v]) has[port*VCS+v] = has[port*VCS+v] - 1;
      if (CUTS && phase == NOTICE_OUT) told[port] = out_notice[port];
      was_valid[port] = out_valid[port];
      was_vc[port] = {24'b0, out_vc[port]};
    end
  endtask

  task watch_input(input integer port);
    begin
      if (phase == IN_CREDIT)
        for (v = 0; v < in_vcs[port]; v = v + 1)
          if (in_credit[port][v]) begin
            queue = port * VCS + v;
            if (there[queue] == 0) blame(5, port);
            else begin
              there[queue] = there[queue] - 1;
              held[queue] = held[queue] - 1;
              $fwrite(log, "C %0d %0d\\n", queue, now);
            end
            quiet = 0;
          end
      at = port * STAGES + STAGES - 1;
      if (is_sent[at]) begin
        if (phase == HEAD) begin
          there[port*VCS+sent_vc[at]] = there[port*VCS+sent_vc[at]] + 1;
          sent_at[port] = now;
        end
        if (LENGTH == 1) coming[port] = in_word[port];
        else coming[port] = {in_word[port], coming[port][LENGTH*WORD-1:WORD % (LENGTH*WORD)]};
        if (phase == TAIL) begin
          $fwrite(log, "I %0d %0d %0d %0d %h\\n", port, sent_vc[at], sent_at[port], hurt[port], coming[port]);
          accepted = accepted + 1;
          quiet = 0;
        end
      end
    end
  endtask

  task watch_terminal;
    begin
      takes = offers && inject_ready;
      if (GAPLESS && position != 0) begin
        if (!inject_ready) blame(7, PORTS);
        slipped = slipped || !offers;
        takes = 1;
      end
      if (takes) begin
        if (position == 0) injected_at = now;
        word = 0;
        word[WIDTH-1:0] = inject_data;
        if (LENGTH == 1) injecting = word;
        else injecting = {word, injecting[LENGTH*WORD-1:WORD % (LENGTH*WORD)]};
        position = position + 1;
        if (position == LENGTH) begin
          position = 0;
          if (mode == FLOODING) flooded = flooded + 1;
          else begin
            $fwrite(log, "I %0d 0 %0d %0d %h\\n", PORTS, injected_at, slipped, injecting);
            accepted = accepted + 1;
          end
          slipped = 0;
        end
        quiet = 0;
      end
    end
  endtask

  task control;
    begin
      restart = 0;
      next_rst = 0;
      if (rst) begin
        resetting = resetting - 1;
        next_rst = resetting > 0;
      end else case (mode)
        RUN: begin
          left = left - 1;
          if (accepted >= packets || now >= limit) is_last = 1;
          if (is_last || (left <= 0 && chance(64))) begin
            mode = FILL;
            left = FILL_CYCLES;
          end else if (left <= 0) restart = 1;
        end
        FILL: begin
          left = left - 1;
          if (left == 0) begin
            $fwrite(log, "H %0d", now);
            for (n = 0; n < QUEUES; n = n + 1) $fwrite(log, " %0d", has[n]);
            $fwrite(log, "\\n");
            mode = DRAIN;
            left = FILL_CYCLES;
            quiet = 0;
          end
        end
        DRAIN: begin
          left = left - 1;
          quiet = quiet + 1;
          if (quiet > QUIET || left == 0) begin
            $fwrite(log, "E %0d", now);
            for (n = 0; n < QUEUES; n = n + 1) begin
              $fwrite(log, " %0d", held[n] + has[n]);
              if (held[n] != 0 || has[n] != 0) is_wrong = 1;
            end
            $fwrite(log, " %0d %0d %0d", dropped, paused, lost);
            for (n = 0; n < PORTS; n = n + 1) $fwrite(log, " %0d", errors[n]);
            $fwrite(log, "\\n");
            mode = RUN;
            left = duration();
            if (is_last && (!FLOODS || now >= limit)) finish;
            else if (is_last) floods = 1;
            restart = is_last || chance(128);
          end
        end
        default: begin
          if (flooded >= FLOOD) left = left - 1;
          if (left == 0 || now >= limit + 4 * FLOOD * LENGTH) begin
            $fwrite(log, "S %0d\\n", dropped);
            finish;
          end
        end
      endcase
      if (is_wrong) finish;
      else if (restart) begin_reset;
    end
  endtask

  task finish;
    begin
      $fwrite(log, "X %0d %0d\\n", now, resets);
      $fflush(log);
      finished <= 1;
    end
  endtask

  task begin_reset;
    begin
      next_rst = 1;
      resets = resets + 1;
      resetting = chance(128) ? 1 : 1 + draw() % 4;
      mode = floods ? FLOODING : RUN;
      left = floods ? 4 * LENGTH : duration();
      if (resets == 1 || chance(64)) begin
        visit = draw() % VISITS;
        resetting = 4;
      end
      if (DEAD) begin
        deadly = floods ? 0 : draw() % 3;
        if (deadly != 2) resetting = 4;
      end
      $fwrite(log, "R %0d %0d %0d\\n", now + 1, visit, deadly == 2);
      for (n = 0; n < QUEUES; n = n + 1) begin
        held[n] = 0;
        there[n] = 0;
        has[n] = 0;
        ripe[n] = 0;
      end
      for (n = 0; n < PORTS * STAGES; n = n + 1) begin
        is_sent[n] = 0;
        is_void[n] = 0;
      end
      for (n = 0; n < PORTS * DELAY; n = n + 1) ripening[n] = -1;
      for (n = 0; n <= PORTS; n = n + 1) begin
        was_valid[n] = 0;
        told[n] = 0;
      end
      apart = 0;
      position = 0;
      offers = 0;
      slipped = 0;
    end
  endtask

  task drive_dead;
    begin
      next_dead = dead_o;
      if (restart && deadly < 2) next_dead = deadly == 0 ? 0 : draw();
      if (deadly == 2 && mode == RUN && chance(4)) next_dead = next_dead ^ (1 << draw() % ALL_PORTS);
      if (next_dead != dead_o) $fwrite(log, "D %0d %h\\n", now + 1, next_dead);
      dead_o <= next_dead;
      if (restart && deadly < 2) dead_i <= deadly == 0 ? 0 : draw();
      if (deadly == 2 && mode == RUN && chance(4)) dead_i <= dead_i ^ (1 << draw() % ALL_PORTS);
      if (phase == CREDIT) ignored = behind;
      behind = dead_i;
    end
  endtask

  task choose(input integer port);
    begin
      at = port * STAGES;
      is_sent[at] = 0;
      is_void[at] = DEAD && ignored[port_of[port]];
      if (!stops && !is_void[at] && cycle + 1 >= FIRST_COMMIT && chance(send_rate)) begin
        n = draw() % in_vcs[port];
        for (k = 0; k < in_vcs[port] && !is_sent[at]; k = k + 1) begin
          v = (n + k) % in_vcs[port];
          queue = port * VCS + v;
          if (used[visit*QUEUES+queue] && held[queue] < in_slots[port]) begin
            held[queue] = held[queue] + 1;
            is_sent[at] = 1;
            sent_vc[at] = v;
            n = (visit * QUEUES + queue) * DESTINATIONS + draw() % DESTINATIONS;
            sent_to[at] = destinations[n];
            sent_onward[at] = onwards[n];
          end
        end
      end
    end
  endtask

  task drive_input(input integer port);
    begin
      for (k = STAGES - 1; k > 0; k = k - 1) begin
        at = port * STAGES + k;
        is_sent[at] = is_sent[at-1];
        is_void[at] = is_void[at-1];
        sent_vc[at] = sent_vc[at-1];
        sent_to[at] = sent_to[at-1];
        sent_onward[at] = sent_onward[at-1];
      end
      if (!rst && !next_rst && phase == CHOICE) choose(port);
      at = port * STAGES + STAGES - 1;
      word = noise();
      if (is_sent[at]) begin
        if (after == HEAD) begin
          word[ADDRESS-1:0] = sent_to[at];
          hurt[port] = 0;
        end
        if (CRC) begin
          word = with_check(word[WIDTH-1:0]);
          if (chance(4)) begin
            wrong = 0;
            for (n = draw() % 3; n >= 0; n = n - 1) wrong[draw()%WORD] = 1;
            word = word ^ wrong;
            hurt[port] = hurt[port] | (after == HEAD ? 3 : 2);
          end
        end
      end
      in_word[port] <= word;
      in_valid[port] <= is_sent[at] || ((is_void[at] || next_rst) && chance(128));
      in_vc[port] <= is_sent[at-1] ? sent_vc[at-1] : draw();
      in_notice[port] <= noise();
      at = port * STAGES;
      if (CUTS && after == NOTICE_IN)
        if (is_sent[at]) in_notice[port] <= sent_onward[at] | (sent_vc[at] << TOLD) | 1;
        else in_notice[port] <= (draw() % VCS) << TOLD;
    end
  endtask

  task drive_output(input integer port);
    begin
      gives = 0;
      if (port == PORTS) begin
        if (apart > 0) apart = apart - 1;
        if (apart == 0 && ripe[PORTS*VCS] > 0 && !holds && chance(eject_rate)) begin
          gives[0] = 1;
          apart = LENGTH;
        end
      end else if (after == CREDIT)
        for (v = 0; v < out_vcs[port]; v = v + 1)
          gives[v] = ripe[port*VCS+v] > 0 && !holds && chance(give_rate);
      if (next_rst) gives = 0;
      for (v = 0; v < out_vcs[port]; v = v + 1)
        if (gives[v]) ripe[port*VCS+v] = ripe[port*VCS+v] - 1;
      given[port] = gives;
      out_credit[port] <= port == PORTS || (after == CREDIT && !next_rst) ? gives : draw();
    end
  endtask

  task drive_terminal;
    begin
      word = noise();
      if (next_rst) offers = 0;
      else if (GAPLESS && position != 0) offers = !chance(1);
      else if (!offers || takes) begin
        offers = (position != 0 || !stops) && chance(inject_rate);
        if (offers && position == 0) begin
          n = draw() % DESTINATIONS;
          if (mode == FLOODING) word[ADDRESS-1:0] = nowhere[n];
          else word[ADDRESS-1:0] = destinations[(visit*QUEUES+QUEUES-1)*DESTINATIONS+n];
        end
      end else word[WIDTH-1:0] = inject_data;
      inject_data <= word[WIDTH-1:0];
      inject_valid <= offers;
    end
  endtask

  initial begin
    if (!$value$plusargs("packets=%d", packets) || !$value$plusargs("limit=%d", limit)) $finish;
    if (!$value$plusargs("start=%d", seed)) $finish;
    $readmemh("visits.hex", visits, 0, VISITS - 1);
    $readmemh("odds.hex", odds, 0, VISITS - 1);
    $readmemh("around.hex", around, 0, VISITS - 1);
    $readmemh("used.hex", used, 0, VISITS * QUEUES - 1);
    $readmemh("destinations.hex", destinations, 0, VISITS * QUEUES * DESTINATIONS - 1);
    $readmemh("onwards.hex", onwards, 0, VISITS * QUEUES * DESTINATIONS - 1);
    $readmemh("nowhere.hex", nowhere, 0, DESTINATIONS - 1);
    log = $fopen("rig.log", "w");
    state = {seed, 32'h9e3779b9};
    for (n = 0; n < 20; n = n + 1) phase = draw();
    sizes;
    finished = 0;
    {rst, dead_o, dead_i} = 0;
    now = 0;
    cycle = 0;
    phase = 0;
    mode = RUN;
    resets = 0;
    accepted = 0;
    flooded = 0;
    is_wrong = 0;
    deadly = 0;
    is_last = 0;
    floods = 0;
    takes = 0;
  end

  always @(posedge clk) if (!finished) begin
    if (resets == 0) begin
      restart = 1;
      begin_reset;
    end else begin
      if (!rst) begin
        for (p = 0; p <= PORTS; p = p + 1) watch_output(p);
        for (p = 0; p < PORTS; p = p + 1) watch_input(p);
        watch_terminal;
      end
      control;
    end
    if (now % (32 * LENGTH) == 0) begin
      send_rate = rate(1);
      give_rate = rate(0);
      eject_rate = rate(0);
      inject_rate = rate(1);
    end
    if (mode == FILL || mode == DRAIN) begin
      send_rate = 256;
      give_rate = 256;
      eject_rate = 256;
      inject_rate = 256;
    end
    if (mode == FLOODING) begin
      send_rate = 0;
      inject_rate = 256;
    end
    holds = mode == FILL;
    stops = mode == DRAIN || (mode == FLOODING && flooded >= FLOOD);
    after = rst ? (odd ? OFFSET : 0) : (phase + 1) % LENGTH;
    if (DEAD) drive_dead;
    for (p = 0; p < PORTS; p = p + 1) drive_input(p);
    for (p = 0; p <= PORTS; p = p + 1) drive_output(p);
    drive_terminal;
    rst <= next_rst;
    address <= visits[visit];
    odd <= odds[visit];
    neighbors <= around[visit];
    cycle = rst ? 0 : cycle + 1;
    phase = after;
    now = now + 1;
  end
"""
