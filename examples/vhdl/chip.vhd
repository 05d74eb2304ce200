-- Four nodes on cube(2): each sends one frame to the node opposite, and counts what comes.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.noc_axi_pkg.all;

entity chip is
  port (
    aclk    : in std_logic;
    aresetn : in std_logic;
    -- Whether each node has received its frame as it was sent, and whether it has received another.
    good    : out std_logic_vector(NODES - 1 downto 0);
    bad     : out std_logic_vector(NODES - 1 downto 0)
  );
end entity;

architecture rtl of chip is
  signal send_tdata, receive_tdata   : words_of_32(NODES - 1 downto 0);
  signal send_tkeep, receive_tkeep   : words_of_4(NODES - 1 downto 0);
  signal send_tdest, receive_tid     : words_of_2(NODES - 1 downto 0);
  signal send_tvalid, send_tready    : std_logic_vector(NODES - 1 downto 0);
  signal receive_tlast, receive_tuser, receive_tvalid : std_logic_vector(NODES - 1 downto 0);
  signal sent, good_now, bad_now     : std_logic_vector(NODES - 1 downto 0);
begin
  good <= good_now;
  bad  <= bad_now;

  nodes_of_chip : for node in 0 to NODES - 1 generate
    constant OTHER : natural := NODES - 1 - node;
  begin
    -- A frame of one word, which is the node's number.
    send_tdata(node)  <= std_logic_vector(to_unsigned(node, 32));
    send_tkeep(node)  <= (others => '1');
    send_tdest(node)  <= ADDRESS_OF_NODE(OTHER);
    send_tvalid(node) <= not sent(node);

    process (aclk)
    begin
      if rising_edge(aclk) then
        if aresetn = '0' then
          sent(node)     <= '0';
          good_now(node) <= '0';
          bad_now(node)  <= '0';
        else
          if send_tready(node) = '1' then
            sent(node) <= '1';
          end if;
          if receive_tvalid(node) = '1' then
            if unsigned(receive_tdata(node)) = OTHER and receive_tid(node) = ADDRESS_OF_NODE(OTHER)
              and receive_tkeep(node) = "1111" and receive_tlast(node) = '1' and receive_tuser(node) = '1'
              and good_now(node) = '0' then
              good_now(node) <= '1';
            else
              bad_now(node) <= '1';
            end if;
          end if;
        end if;
      end if;
    end process;
  end generate;

  network : entity work.noc_axi_vhdl
    port map (
      aclk          => aclk,
      aresetn       => aresetn,
      s_axis_tdata  => send_tdata,
      s_axis_tkeep  => send_tkeep,
      s_axis_tlast  => (NODES - 1 downto 0 => '1'),
      s_axis_tdest  => send_tdest,
      s_axis_tuser  => (NODES - 1 downto 0 => '1'),
      s_axis_tvalid => send_tvalid,
      s_axis_tready => send_tready,
      m_axis_tdata  => receive_tdata,
      m_axis_tkeep  => receive_tkeep,
      m_axis_tlast  => receive_tlast,
      m_axis_tid    => receive_tid,
      m_axis_tuser  => receive_tuser,
      m_axis_tvalid => receive_tvalid,
      m_axis_tready => (NODES - 1 downto 0 => '1'),
      s_axil_awaddr => (18 downto 0 => '0'),
      s_axil_awprot => "000",
      s_axil_awvalid => '0',
      s_axil_awready => open,
      s_axil_wdata  => (31 downto 0 => '0'),
      s_axil_wstrb  => "0000",
      s_axil_wvalid => '0',
      s_axil_wready => open,
      s_axil_bresp  => open,
      s_axil_bvalid => open,
      s_axil_bready => '0',
      s_axil_araddr => (18 downto 0 => '0'),
      s_axil_arprot => "000",
      s_axil_arvalid => '0',
      s_axil_arready => open,
      s_axil_rdata  => open,
      s_axil_rresp  => open,
      s_axil_rvalid => open,
      s_axil_rready => '0'
    );
end architecture;
